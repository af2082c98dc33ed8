package function

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// slow are packages that a function must not import. Measurements showed that their initialization takes longer than
// all of the service's own code.
var slow = []string{
	"github.com/aws/aws-sdk-go-v2/config",                   // reads files; see dynamo.NewClient
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas", // tables of every shape; see dynamo.NewClient
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/schemas",
	"github.com/getkin/kin-openapi/openapi3", // for tests only
}

func TestFunctions_ImportNoPackageThatStartsSlowly(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-tags", "lambda.norpc", "-deps", "wavegate/functions/...")
	out := expect.Value(list.Output())(t)
	packages := strings.Fields(string(out))
	expect.Must(t, slices.Contains(packages, "github.com/aws/aws-sdk-go-v2/service/dynamodb"),
		"the functions' packages were not listed")
	for _, p := range slow {
		expect.That(t, !slices.Contains(packages, p), "some function imports %s", p)
	}
}
