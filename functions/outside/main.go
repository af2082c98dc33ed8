// Command outside looks at the service as a stranger would: by its public name, with the account of a person and the token of
// a box that are made for it. A schedule calls it; see infra/outside.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"wavegate/shared/platform/secret"
	"wavegate/shared/platform/telemetry"
)

// operation is what the check calls itself in logs and metrics.
const operation = "outside"

func main() {
	log, secrets, id := lambdacontext.NewLogger(), secret.NewClient(), os.Getenv("OUTSIDE_SECRET_ID")
	c := checker{
		api: os.Getenv("OUTSIDE_URL"), login: "https://cognito-idp." + os.Getenv("AWS_REGION") + ".amazonaws.com/",
		client: &http.Client{
			Timeout: 5 * time.Second,
			// Each run resolves the name and checks the certificate again.
			Transport: &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: 3 * time.Second},
		},
	}
	lambda.Start(func(ctx context.Context) error {
		known, err := read(ctx, secrets, id)
		failures := 1.0
		if err == nil {
			began := time.Now()
			faults := c.check(ctx, known)
			failures, err = float64(len(faults)), errors.Join(faults...)
			telemetry.Emit(os.Stdout, time.Now(), map[string]string{"operation": operation},
				telemetry.Metric{Name: "OutsideDuration", Value: float64(time.Since(began).Milliseconds()), Unit: telemetry.Milliseconds})
		}
		telemetry.Emit(os.Stdout, time.Now(), map[string]string{"operation": operation},
			telemetry.Metric{Name: "OutsideFailures", Value: failures, Unit: telemetry.Count})
		if err != nil {
			log.ErrorContext(ctx, "the check failed", "operation", operation, "cause", err.Error())
		}
		return nil // the metric says it; an error would be tried again
	})
}

// Known is what the secret holds.
type Known struct {
	// ClientID, Username and Password log a person in at the stack's own pool; empty: nobody logs in.
	ClientID string `json:"clientId"`
	Username string `json:"username"`
	Password string `json:"password"`
	// EdgeID and BoxToken poll as a box; empty: none polls.
	EdgeID   string `json:"edgeId"`
	BoxToken string `json:"boxToken"`
}

// read reads the secret at each run, so that a new token or password needs no deploy.
func read(ctx context.Context, secrets secret.Manager, id string) (Known, error) {
	var known Known
	out, err := secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return known, fmt.Errorf("read the secret: %w", err)
	}
	if out.SecretString == nil || json.Unmarshal([]byte(*out.SecretString), &known) != nil {
		return known, errors.New("the secret is no JSON object of texts") // and what it is stands in no log
	}
	return known, nil
}
