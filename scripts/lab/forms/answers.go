package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/service"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/golden"
)

// answersFile is beside the items.
const answersFile = "answers.json"

// Answers are what the functions of the first recording answered about its items.
type Answers struct {
	Recorded time.Time         `json:"recorded"` // as the items
	Shift    int64             `json:"shift"`    // by how many seconds their times were shifted when they were read
	Values   map[string]string `json:"values"`
	Calls    []exchange        `json:"calls"`
}

// An exchange is a read and its answer.
type exchange struct {
	read
	Status int             `json:"status"`
	ETag   string          `json:"etag,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// load stores items as if they had been recorded at an age before now, and returns the shift of their times.
func (w *world) load(ctx context.Context, items []golden.Item, recorded time.Time) (time.Duration, error) {
	by := time.Since(recorded.Add(age)).Truncate(time.Second) - time.Second // earlier rather than later
	for _, i := range items {
		if !i.Recorded.Equal(recorded) {
			continue
		}
		_, err := w.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(i.Table)), Item: golden.Encoded(shifted(i, by))})
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", i.Table, i.Key(), err)
		}
	}
	return by, nil
}

// make makes a read.
func (w *world) make(r read) (x exchange, err error) {
	var header []string
	if r.Key != "" {
		header = []string{"Idempotency-Key", r.Key}
	}
	a, err := w.ask(r.By, r.Call, r.Body, header...)
	if err != nil {
		return x, fmt.Errorf("%s: %s: %w", r.By, r.Call, err)
	}
	x = exchange{read: r, Status: a.status, ETag: a.header.Get("ETag"), Answer: bytes.TrimSpace(a.body)}
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/jsonl") {
		x.Answer = slices.Concat([]byte("["), bytes.ReplaceAll(x.Answer, []byte("\n"), []byte(",")), []byte("]"))
	}
	if location := a.header.Get("Location"); len(x.Answer) == 0 && location != "" {
		x.Answer = json.RawMessage(fmt.Sprintf("{\"Location\":%q}", location))
	}
	x.Answer = bytes.ReplaceAll(x.Answer, []byte(w.URL), []byte("URL"))
	return x, nil
}

// answer reads everything about the items of a recording.
func (w *world) answer(ctx context.Context, items []golden.Item, recorded time.Time) (Answers, error) {
	by, err := w.load(ctx, items, recorded)
	all := Answers{Recorded: recorded, Shift: int64(by.Seconds()), Values: w.values}
	if err != nil {
		return all, err
	}
	now := slices.DeleteFunc(slices.Clone(items), func(i golden.Item) bool { return !i.Recorded.Equal(recorded) })
	for _, r := range w.reads(now) {
		x, err := w.make(r)
		if err != nil {
			return all, err
		}
		if x.Status >= http.StatusInternalServerError {
			return all, fmt.Errorf("%s: %s: answered %d: %s", r.By, r.Call, x.Status, x.Answer)
		}
		all.Calls = append(all.Calls, x)
	}
	return all, nil
}

// write writes the answers, with a call in each line.
func (a Answers) write(file string) error {
	calls := a.Calls
	a.Calls = nil
	head, err := encode(a)
	if err != nil {
		return err
	}
	lines := make([]string, len(calls))
	for i, x := range calls {
		if lines[i], err = encode(x); err != nil {
			return err
		}
	}
	text := strings.TrimSuffix(head, "null}") + "[\n" + strings.Join(lines, ",\n") + "\n]}\n"
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // it is for everyone
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// readAnswers reads the recorded answers.
func readAnswers() (all Answers, err error) {
	root, err := service.Root()
	if err != nil {
		return all, err
	}
	text, err := os.ReadFile(filepath.Join(root, golden.Folder, answersFile))
	if err != nil {
		return all, err
	}
	return all, json.Unmarshal(text, &all)
}
