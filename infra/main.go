// Command infra is the CDK app: it defines all AWS resources of the service, from the table of operations, the table
// definitions and the list of API Gateway's own responses. deploying.md describes its use.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"wavegate/shared/operations/table"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	settings, err := ReadSettings(contextOf(app))
	if err != nil {
		fail(err)
	}
	if err := errors.Join(checkPrograms(settings), checkDocs(settings)); err != nil {
		fail(err)
	}
	NewStacks(app, settings, table.All)
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(nil), nil)
	assembly := app.Synth(nil)
	for _, stack := range *assembly.Stacks() {
		if err := checkTemplate(*stack.TemplateFullPath(), settings); err != nil {
			fail(err)
		}
	}
}

// contextOf returns the settings of cdk.json and the command line.
func contextOf(app awscdk.App) map[string]any {
	context, _ := app.Node().GetAllContext(nil).(map[string]any)
	return context
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "infra:", err)
	jsii.Close()
	os.Exit(1)
}
