package dynamolocal

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"wavegate/shared/testing/expect"
)

func TestFunctions_LinkNoLocalStore(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./functions/...")
	list.Dir = "../../.."
	out, err := list.Output()
	expect.OK(t, err)
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "wavegate/shared/platform/dynamo") {
		t.Fatal("the list of packages differs from the list of functions")
	}
	for _, p := range packages {
		for _, local := range []string{"wavegate/shared/platform/dynamo/", "github.com/truora/", "testing"} {
			if strings.HasPrefix(p, local) {
				t.Errorf("a function links %s", p)
			}
		}
	}
}
