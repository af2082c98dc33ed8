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
	out := expect.Value(list.Output())(t)
	packages := strings.Fields(string(out))
	expect.Must(t, slices.Contains(packages, "wavegate/shared/platform/dynamo"),
		"the list of packages differs from the list of functions")
	for _, p := range packages {
		for _, local := range []string{"wavegate/shared/platform/dynamo/", "github.com/truora/", "testing"} {
			expect.That(t, !strings.HasPrefix(p, local), "a function links %s", p)
		}
	}
}
