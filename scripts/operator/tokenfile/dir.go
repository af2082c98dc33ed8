package tokenfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	prefix, suffix = "edge-", ".token"
	// draftPrefix marks incomplete files. No box has such a file.
	draftPrefix = ".draft-"
	// forgotten is the age at which a draft counts as left behind by its process.
	forgotten = time.Hour
)

// Name is the name of a box's file. It is valid on every file system: colons of the id become +, which no id has; the
// prefix edge- avoids names that a system reserves, such as con; and it has at most 139 characters.
func Name(edgeID string) string { return prefix + strings.ReplaceAll(edgeID, ":", "+") + suffix }

// A Dir is a directory with a file for each box.
type Dir struct {
	Path string
	Disk Disk
}

// Check reports what is wrong with the directory. It need not exist yet, but its parent must.
func (d Dir) Check() error {
	info, err := os.Stat(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err = os.Stat(filepath.Dir(filepath.Clean(d.Path))); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a directory", filepath.Dir(d.Path))
		}
		return err
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", d.Path)
	case open(info):
		return fmt.Errorf("%s can be used by others; it must have the mode 0700, and has %#o", d.Path, info.Mode().Perm())
	}
	return nil
}

// Has reports whether the file of a box exists. The error says what is wrong with it.
func (d Dir) Has(edgeID string) (bool, error) {
	_, _, err := Read(d.file(edgeID), edgeID)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (d Dir) file(edgeID string) string { return filepath.Join(d.Path, Name(edgeID)) }

// Prepare makes the directory, which only its owner can use and which git ignores, and removes drafts that were left
// behind.
func (d Dir) Prepare() error {
	if err := d.Disk.before("mkdir", d.Path); err != nil {
		return err
	}
	if err := os.Mkdir(d.Path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := d.Check(); err != nil {
		return err
	}
	if err := d.ignore(); err != nil {
		return err
	}
	if err := d.sweep(); err != nil {
		return err
	}
	return syncDir(d.Disk, filepath.Dir(filepath.Clean(d.Path)))
}

// ignore makes git ignore the directory, wherever it is.
func (d Dir) ignore() error {
	path := filepath.Join(d.Path, ".gitignore")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := create(d.Disk, path, "*\n"); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// sweep removes the drafts that were left behind.
func (d Dir) sweep() error {
	entries, err := os.ReadDir(d.Path)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), draftPrefix) {
			continue
		}
		if info, gone := e.Info(); gone == nil && time.Since(info.ModTime()) > forgotten {
			err = errors.Join(err, remove(d.Disk, filepath.Join(d.Path, e.Name())))
		}
	}
	return err
}

// Hashes returns the SHA-256 of each box's token, and how many tokens were made. It prepares the directory. After an
// error, some of the files may have been made.
func (d Dir) Hashes(edgeIDs []string) (list []string, made int, err error) {
	for _, id := range edgeIDs {
		t, isNew, err := place(d.Disk, d.file(id), id)
		if err != nil {
			return nil, made, err
		}
		if isNew {
			made++
		}
		list = append(list, t.SHA256)
	}
	return list, made, syncDir(d.Disk, d.Path)
}

// All returns the tokens of a directory, by the ids of their boxes.
func All(path string) (map[string]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		text, t, err := parse(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		all[t.Subject] = text
	}
	return all, nil
}
