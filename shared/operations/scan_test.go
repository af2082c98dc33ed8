package operations_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// actions are all actions that a function may be granted. Scan is missing, because its cost
// grows with everything that was ever stored.
var actions = []dynamo.Permission{dynamo.Get, dynamo.BatchGet, dynamo.Query, dynamo.Put, dynamo.Update, dynamo.Write, dynamo.Delete, dynamo.ConditionCheck}

func TestTable_GrantsNoScan(t *testing.T) {
	for _, op := range table.All {
		for _, g := range op.Grants {
			for _, a := range g.Actions {
				expect.That(t, slices.Contains(actions, a) && !strings.Contains(string(a), "Scan"),
					"%s is granted %s on %s", op.ID, a, g.Table)
			}
		}
	}
}

func TestTable_GrantedIndexes_Exist(t *testing.T) {
	for _, op := range table.All {
		for _, g := range op.Grants {
			for _, name := range g.Indexes {
				known := slices.ContainsFunc(dynamo.TableOf(g.Table).Indexes, func(x dynamo.Index) bool { return x.Name == name })
				expect.That(t, known && slices.Contains(g.Actions, dynamo.Query),
					"%s is granted the index %s of %s, with %v", op.ID, name, g.Table, g.Actions)
			}
		}
	}
}

func TestTable_EveryIndexIsQueriedBySomeOperation(t *testing.T) {
	for _, stored := range dynamo.Tables {
		for _, x := range stored.Indexes {
			used := false
			for _, op := range table.All {
				for _, g := range op.Grants {
					used = used || g.Table == stored.ID && slices.Contains(g.Indexes, x.Name)
				}
			}
			expect.That(t, used,
				"no operation queries the index %s of %s, but every write pays for it", x.Name, stored.ID)
		}
	}
}

// TestSource_OfFunctions_ContainsNoScan reads all source that functions are built from. It must not
// contain the call, its paginator or PartiQL, which may scan.
func TestSource_OfFunctions_ContainsNoScan(t *testing.T) {
	files := 0
	for _, root := range []string{"../../shared", "../../functions"} {
		expect.OK(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && slices.Contains([]string{"dynamolocal", "dynamotest", "golden"}, d.Name()) {
				return fs.SkipDir // no function links these
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			files++
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && scans(call.Sel.Name) {
					t.Errorf("%s names %s", path, call.Sel.Name)
				}
				return true
			})
			return nil
		}))
	}
	expect.That(t, files >= 20, "only %d files were read", files)
}

func scans(name string) bool {
	return name == "Scan" || strings.HasPrefix(name, "ScanInput") || strings.HasPrefix(name, "NewScan") ||
		slices.Contains([]string{"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}, name)
}
