package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

var (
	// sourceOnly is a part of a page for those who have the source.
	sourceOnly = regexp.MustCompile(`(?s)<!-- with the source -->\n.*?<!-- end -->\n*`)
	// link is a link of a page, with its text and its target.
	link = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]+)\)`)
)

// cut removes from the pages in a directory what is only for those who have the source: parts that say so, and links to files
// that are not there, of which the text stays.
func cut(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		page := sourceOnly.ReplaceAllString(string(text), "")
		page = link.ReplaceAllStringFunc(page, func(l string) string {
			parts := link.FindStringSubmatch(l)
			if there(root, path.Dir(name), parts[2]) {
				return l
			}
			return parts[1]
		})
		return root.WriteFile(name, []byte(page), 0o600)
	})
}

// there reports whether a link leads elsewhere, or to a file.
func there(root *os.Root, dir, target string) bool {
	file, _, _ := strings.Cut(target, "#")
	if file == "" || strings.Contains(target, "://") {
		return true
	}
	_, err := root.Stat(path.Join(dir, file))
	return err == nil
}
