package service

import (
	"os"
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

// twice is the directory of a second version, whose get-factory is another binary.
func twice(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, from := range map[string]string{"authorizer": "authorizer", "put-factory": "put-factory", "get-factory": "get-machine"} {
		binary := expect.Value(filepath.Abs(filepath.Join(functions, from, "bootstrap")))(t)
		expect.OK(t, os.Mkdir(filepath.Join(dir, name), 0o750))
		expect.OK(t, os.Symlink(binary, filepath.Join(dir, name, "bootstrap")))
	}
	return dir
}

func TestBeside_EachTurn_HasItsOwnAnswers(t *testing.T) {
	s := start(t, func(o *Options) { o.Beside = &Beside{Functions: twice(t), Seed: 1} })
	if status, body := do(t, s, "PUT", "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	// The second version's function fails, because it does not know this path.
	answers := func(by Turn) (first, second int) {
		s.Answer(by)
		for range 20 {
			if status, _ := do(t, s, "GET", "/api/factories/munich-1", ""); status == 200 {
				first++
			} else {
				second++
			}
		}
		return first, second
	}
	if first, second := answers(Both); first == 0 || second == 0 {
		t.Errorf("of both versions, the first answered %d calls and the second %d", first, second)
	}
	first, second := answers(First)
	expect.Equal(t, []int{first, second}, []int{20, 0}, "of the first version alone, the two answer")
	first, second = answers(Second)
	expect.Equal(t, []int{first, second}, []int{0, 20}, "of the second version alone, the two answer")
	// A function that the second version lacks is the first's.
	status, body := do(t, s, "GET", "/api/factories", "")
	expect.That(t, status == 200, "%d %s", status, body)
	expect.That(t, len(s.PIDs("get-factory")) > s.Function("get-factory").Counts().Live,
		"the processes of the second version are not listed")
}
