// Command lines counts the project's lines; ./scripts/check lines calls it. Here is what the line budget counts:
//
//   - Files that Git tracks or would add, except testdata (golden files are there) and generated files; every line of them.
//   - Product are the Go files of functions, shared, infra, scripts/operator and scripts/box, without shared/testing.
//   - Supporting are those of shared/testing and of the other scripts.
//   - Tests are the Go files that end in _test.go, wherever they are.
//   - Contract by hand are the YAML files of shared/contract/parts.
//   - Pages and scripts are in other languages. They are outside the budget.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	kinds     = []string{"product", "supporting", "tests", "contract by hand", "pages and scripts"}
	product   = regexp.MustCompile(`^(functions|shared|infra|scripts/operator|scripts/box)/`)
	excluded  = regexp.MustCompile(`(^|/)(testdata|vendor)/`)
	generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)
	languages = []string{".mjs", ".js", ".mts", ".ts", ".css", ".html", ".py", ".sh", ".java"}
)

// kindOf returns the kind of a file, or an empty string if it does not count.
func kindOf(name string, text []byte) string {
	switch ext := path.Ext(name); {
	case excluded.MatchString(name), generated.Match(text):
		return ""
	case strings.HasSuffix(name, "_test.go"):
		return "tests"
	case ext == ".go" && product.MatchString(name) && !strings.HasPrefix(name, "shared/testing/"):
		return "product"
	case ext == ".go":
		return "supporting"
	case ext == ".yaml" && strings.HasPrefix(name, "shared/contract/parts/"):
		return "contract by hand"
	case slices.Contains(languages, ext), bytes.HasPrefix(text, []byte("#!")):
		return "pages and scripts"
	}
	return ""
}

// A count is of all files of a kind.
type count struct {
	lines          int
	file, function longest
}

// A longest is a file or function with its lines.
type longest struct {
	lines int
	where string
}

func (l *longest) see(lines int, where string) {
	if lines > l.lines {
		*l = longest{lines, where}
	}
}

func (l *longest) seeFunctions(name string, text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			first, last := set.Position(f.Pos()).Line, set.Position(f.End()).Line
			l.see(last-first+1, fmt.Sprintf("%s:%d", name, first))
		}
	}
	return nil
}

func run() error {
	list, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	counts := map[string]*count{"": {}} // files that do not count have no kind
	for _, kind := range kinds {
		counts[kind] = &count{}
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // it is removed, but not yet in a commit
		} else if err != nil {
			return err
		}
		c, n := counts[kindOf(name, text)], bytes.Count(text, []byte("\n"))
		c.lines += n
		c.file.see(n, name)
		if path.Ext(name) == ".go" {
			if err := c.function.seeFunctions(name, text); err != nil {
				return err
			}
		}
	}
	for _, kind := range kinds {
		c := counts[kind]
		fmt.Printf("%-18s %6d   longest file %d %s", kind, c.lines, c.file.lines, c.file.where)
		if c.function.lines > 0 {
			fmt.Printf("; longest function %d %s", c.function.lines, c.function.where)
		}
		fmt.Println()
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}
