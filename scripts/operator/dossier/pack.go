package dossier

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// sums is the entry with the digests of all others.
const sums = "SHA256SUMS"

// An entry is a file in a dossier.
type entry struct {
	name string
	data []byte
}

// pack makes the file of a dossier: a ZIP archive without compression, times and comments, so that the same entries always
// give the same bytes. Its first entry has the digests of the others.
func pack(entries []entry) ([]byte, error) {
	var list strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(e.data), e.name)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range append([]entry{{sums, []byte(list.String())}}, entries...) {
		w, err := z.CreateRaw(&zip.FileHeader{Name: e.name, Method: zip.Store, CreatorVersion: 20, ReaderVersion: 20, CRC32: crc32.ChecksumIEEE(e.data),
			CompressedSize64: uint64(len(e.data)), UncompressedSize64: uint64(len(e.data))})
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// unpack reads the entries of a dossier, which must be those that its digests name, in the bytes that pack makes of them.
func unpack(file []byte) (entries []entry, err error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, fmt.Errorf("it is no ZIP archive: %w", err)
	}
	for _, f := range z.File {
		data, err := read(f)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", f.Name, err)
		}
		entries = append(entries, entry{f.Name, data})
	}
	if len(entries) == 0 || entries[0].name != sums {
		return nil, fmt.Errorf("its first entry is not %s", sums)
	}
	again, err := pack(entries[1:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, file) {
		return nil, fmt.Errorf("it is not as it was made: an entry, its digest or the archive around them differs%s", differing(entries))
	}
	return entries[1:], nil
}

// differing names the entries whose digests are others than those in the first entry.
func differing(entries []entry) string {
	list := strings.Split(string(entries[0].data), "\n")
	var names []string
	for _, e := range entries[1:] {
		if !slices.Contains(list, fmt.Sprintf("%x  %s", sha256.Sum256(e.data), e.name)) {
			names = append(names, e.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

func read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	_ = r.Close()
	return data, err
}
