// Package tokenfile keeps the tokens of boxes in files, one token per file, which only its owner can read. Only Read
// and All return the text of a token.
//
// A file appears complete and on the disk, or not at all. So a hash that Make or Hashes has returned always has its
// file, no matter how the process ends.
package tokenfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"wavegate/shared/access/boxtoken"
)

// A Disk holds the files. The zero Disk is that of the machine.
type Disk struct {
	// Before is called before each step that changes a file or a directory. Its error becomes the step's. It may be nil.
	Before func(step, path string) error
}

func (d Disk) before(step, path string) error {
	if d.Before == nil {
		return nil
	}
	return d.Before(step, path)
}

// most is the largest file, in bytes.
const most = 1 << 10

// Read reads the token of a box. The error is fs.ErrNotExist if there is no file, and otherwise says what is wrong with it.
func Read(path, edgeID string) (text string, t boxtoken.Token, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", t, err
	}
	if !info.Mode().IsRegular() {
		return "", t, fmt.Errorf("%s is not a file", path)
	}
	if open(info) {
		return "", t, fmt.Errorf("%s can be read by others; it must have the mode 0600, and has %#o", path, info.Mode().Perm())
	}
	text, t, err = parse(path)
	if err == nil && t.Subject != edgeID {
		return "", t, fmt.Errorf("%s has the token of another box, %s", path, t.Subject)
	}
	return text, t, err
}

// parse reads the token of any box.
func parse(path string) (text string, t boxtoken.Token, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", t, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return "", t, err
	}
	text = strings.TrimRight(string(content), "\r\n") // editors and echo end files with it
	t, ok := boxtoken.Parse(text)
	if !ok || t.Kind != boxtoken.Box {
		return "", t, fmt.Errorf("%s does not have the token of a box", path)
	}
	return text, t, nil
}

// open reports whether people other than the owner can use a file or a directory. Windows keeps that elsewhere.
func open(info fs.FileInfo) bool { return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 }

// Make returns the token of a box, and reports whether it was made. An existing file stays.
func Make(disk Disk, path, edgeID string) (t boxtoken.Token, made bool, err error) {
	t, made, err = place(disk, path, edgeID)
	if err == nil {
		err = syncDir(disk, filepath.Dir(path))
	}
	return t, made, err
}

// place makes the file of a box, if it does not exist. It does not sync the directory.
func place(disk Disk, path, edgeID string) (t boxtoken.Token, made bool, err error) {
	if _, t, err = Read(path, edgeID); !errors.Is(err, fs.ErrNotExist) {
		return t, false, err
	}
	text, t := boxtoken.New(boxtoken.Box, edgeID)
	if err = create(disk, path, text); errors.Is(err, fs.ErrExist) { // another run was faster
		_, t, err = Read(path, edgeID)
		return t, false, err
	}
	return t, err == nil, err
}

// create makes a file that only its owner can read. It appears complete. The error is fs.ErrExist if it exists
// already.
func create(disk Disk, path, text string) (err error) {
	draft, err := write(disk, filepath.Dir(path), text)
	if draft != "" {
		defer func() { err = errors.Join(err, remove(disk, draft)) }()
	}
	if err == nil {
		err = disk.before("link", path)
	}
	if err != nil {
		return err
	}
	return os.Link(draft, path) // unlike a rename, it never replaces another file
}

// write writes a text to a new file that only its owner can read, and returns its name once it is on the disk.
func write(disk Disk, dir, text string) (name string, err error) {
	if err := disk.before("create", dir); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, draftPrefix+"*")
	if err != nil {
		return "", err
	}
	if err = disk.before("write", file.Name()); err == nil {
		_, err = file.WriteString(text)
	}
	if err == nil {
		err = disk.before("sync", file.Name())
	}
	if err == nil {
		err = file.Sync()
	}
	return file.Name(), errors.Join(err, file.Close())
}

func remove(disk Disk, path string) error {
	if err := disk.before("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

// syncDir brings the names in a directory to the disk. Windows does so automatically.
func syncDir(disk Disk, path string) error {
	if err := disk.before("sync", path); err != nil || runtime.GOOS == "windows" {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
