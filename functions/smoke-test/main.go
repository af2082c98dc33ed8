// Command smoke-test tries new versions of functions before they get any traffic. CloudFormation calls it as a custom
// resource during a deploy, after the functions have changed and before the API's routes, aliases and schedules move.
// If a version does not answer as it should, the deploy fails and CloudFormation rolls the stack back. See
// infra/smoketest.go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/cfn"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	lambdaapi "github.com/aws/aws-sdk-go-v2/service/lambda"

	"wavegate/shared/operations"
	"wavegate/shared/platform/credentials"
	"wavegate/shared/platform/telemetry"
)

func main() {
	o := lambdaapi.Options{
		Region: os.Getenv("AWS_REGION"), Credentials: credentials.FromEnvironment(),
		HTTPClient: &http.Client{Timeout: longestCall}, RetryMaxAttempts: 3,
	}
	if url := os.Getenv("AWS_ENDPOINT_URL"); url != "" {
		o.BaseEndpoint = aws.String(url)
	}
	t := tester{api: lambdaapi.New(o), log: telemetry.Log(), patience: patience}
	lambda.Start(cfn.LambdaWrap(t.answer))
}

const (
	// longestCall bounds a call of a version. No function may run for longer than a minute.
	longestCall = 65 * time.Second
	// patience is how long a version that does not answer well is called again: new permissions take seconds to spread.
	patience = 20 * time.Second
	// margin is the part of the function's own time that is left for answering CloudFormation.
	margin = 15 * time.Second
)

// wishes are the custom resource's properties. The names of the stack's functions share a prefix.
type wishes struct {
	Prefix string
	// Publish names functions. The latest code and configuration of each becomes a version.
	Publish []string
	// Versions are the ARNs of versions that the stack has published itself.
	Versions []string
}

// answer answers CloudFormation. Only the creation of the resource is a release. There is nothing to update or delete,
// so neither a rollback nor the deletion of a stack waits for a function.
func (t tester) answer(ctx context.Context, event cfn.Event) (id string, data map[string]any, err error) {
	if event.RequestType != cfn.RequestCreate {
		return event.PhysicalResourceID, nil, nil
	}
	var w wishes
	text, err := json.Marshal(event.ResourceProperties)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return event.LogicalResourceID, nil, fmt.Errorf("the properties cannot be read: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	published, faults := t.try(ctx, w)
	if len(faults) > 0 {
		t.log.ErrorContext(ctx, "the release is refused", "faults", faults)
		return event.LogicalResourceID, nil, reason(faults)
	}
	data = map[string]any{}
	for name, version := range published {
		data[operations.VersionAttribute(name)] = version
	}
	return event.LogicalResourceID, data, nil
}

// mostReason bounds the reasons, in bytes: CloudFormation accepts an answer of at most 4,096 bytes.
const mostReason = 2000

// reason says which versions failed, and what they answered. The function's log has the full text.
func reason(faults []string) error {
	text := fmt.Sprintf("%d of the release's versions failed their smoke test, and no traffic moved: %s", len(faults), strings.Join(faults, "; "))
	if len(text) > mostReason {
		text = strings.ToValidUTF8(text[:mostReason], "") + " … and more in the log"
	}
	return fmt.Errorf("%s", text)
}
