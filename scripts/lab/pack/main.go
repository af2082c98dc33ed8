// Command pack makes a zip of each directory, beside it, with the same bytes whenever and wherever it runs.
//
//	pack [-folder] DIR...
//	pack -pages DIR...          cuts the pages in each to what is there; see cut
package main

import (
	"archive/zip"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	folder := flag.Bool("folder", false, "put the files into a folder with the directory's name")
	pages := flag.Bool("pages", false, "cut pages to what is there")
	flag.Parse()
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for _, dir := range flag.Args() {
		dir = filepath.Clean(dir)
		if *pages {
			all.Go(func() error { return cut(dir) })
			continue
		}
		below := ""
		if *folder {
			below = filepath.Base(dir)
		}
		all.Go(func() error { return pack(dir, below) })
	}
	if err := all.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// earliest is the time of each file: the first that a zip can have.
var earliest = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func pack(dir, below string) error {
	file, err := os.Create(dir + ".zip")
	if err != nil {
		return err
	}
	defer file.Close()
	z := zip.NewWriter(file)
	files := os.DirFS(dir)
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error { // in the order of names
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: path.Join(below, name), Method: zip.Deflate, Modified: earliest}
		h.SetMode(0o644 | info.Mode()&0o111)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return file.Close()
}
