package boxes

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/edge"
)

// A perLine is called with each line of a file: its number, and its cells by column or what is wrong with it.
type perLine func(line int, cells map[string]string, wrong error) error

// readSheet reads a file of boxes: CSV that names its columns in the first line, if known accepts them, or JSON lines as in
// lists of boxes. CSV may have commas, semicolons or tabs, and the file may be UTF-8 or, with a byte order mark, UTF-16. Lines
// without any text are skipped. It returns the hash of the file's bytes.
func readSheet(name string, known func(head []string) error, each perLine) (hash string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", run.Fail(run.Misused, "%w", err)
	}
	defer file.Close()
	digest := sha256.New()
	text := bufio.NewReader(transform.NewReader(io.TeeReader(file, digest), unicode.BOMOverride(transform.Nop)))
	begins, _ := text.Peek(text.Size())
	first, _, _ := bytes.Cut(bytes.TrimLeft(begins, "\r\n"), []byte("\n"))
	if bytes.HasPrefix(bytes.TrimSpace(first), []byte("{")) {
		err = jsonLines(text, each)
	} else {
		r := csv.NewReader(text)
		r.Comma, r.FieldsPerRecord = comma(first), -1
		head, wrong := headOf(r, known)
		if wrong != nil {
			return "", run.Fail(run.Misused, "%s: %w", name, wrong)
		}
		err = csvLines(r, head, each)
	}
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, text); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// comma is the character between the cells of a line that names columns.
func comma(head []byte) rune {
	if i := bytes.IndexAny(head, ",;\t"); i >= 0 {
		return rune(head[i])
	}
	return ','
}

// headOf reads the names of the columns.
func headOf(r *csv.Reader, known func(head []string) error) ([]string, error) {
	head, err := r.Read()
	for i := range head {
		head[i] = strings.TrimSpace(head[i])
	}
	for len(head) > 0 && head[len(head)-1] == "" { // spreadsheets end lines with empty cells
		head = head[:len(head)-1]
	}
	if err == nil {
		err = known(head)
	}
	return head, err
}

var errNotUTF8 = errors.New("it is neither UTF-8 nor UTF-16 with a byte order mark")

func csvLines(r *csv.Reader, head []string, each perLine) error {
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if p, wrong := errors.AsType[*csv.ParseError](err); wrong {
			err = each(p.StartLine, nil, p.Err)
		} else if err == nil && strings.TrimSpace(strings.Join(record, "")) != "" {
			line, _ := r.FieldPos(0)
			cells, wrong := cellsOf(head, record)
			err = each(line, cells, wrong)
		}
		if err != nil {
			return err
		}
	}
}

func cellsOf(head, record []string) (map[string]string, error) {
	cells := map[string]string{}
	for i, cell := range record {
		switch cell = strings.TrimSpace(cell); {
		case !utf8.ValidString(cell):
			return nil, errNotUTF8
		case i < len(head):
			cells[head[i]] = cell
		case cell != "":
			return nil, fmt.Errorf("it has more cells than the first line names, which has %d; quote a cell that contains the separator", len(head))
		}
	}
	return cells, nil
}

// jsonLines reads a box as it is in lists from each line.
func jsonLines(text io.Reader, each perLine) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for line := 1; lines.Scan(); line++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		cells, wrong := boxIn(lines.Bytes())
		if err := each(line, cells, wrong); err != nil {
			return err
		}
	}
	return lines.Err()
}

func boxIn(text []byte) (map[string]string, error) {
	var b edge.Shown
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err := from.Decode(&b); err != nil {
		return nil, err
	}
	if from.More() {
		return nil, errors.New("it has more than one object")
	}
	cells := map[string]string{"edgeId": b.EdgeID, "edgeType": b.EdgeType, "channel": b.Channel, "organizationId": b.OrganizationID,
		"factoryId": b.FactoryID, "issuer": b.Issuer}
	if b.Attributes != nil {
		all, err := json.Marshal(b.Attributes)
		if err != nil {
			return nil, err
		}
		cells[attributes] = string(all)
	}
	return cells, nil
}
