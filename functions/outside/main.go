// Command outside calls the service as a stranger would: by its public name, with a person's account and a box's token
// that exist only for this check. A schedule calls it; see infra/outside.md.
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
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"wavegate/shared/platform/secret"
	"wavegate/shared/platform/telemetry"
	"wavegate/shared/platform/zones"
)

// operation is what the check calls itself in logs and metrics.
const operation = "outside"

func main() {
	log, secrets, id := telemetry.Log(), secret.NewClient(), os.Getenv("OUTSIDE_SECRET_ID")
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
			faults := c.check(ctx, known)
			failures, err = float64(len(faults)), errors.Join(faults...)
		}
		telemetry.Emit(os.Stdout, time.Now(), map[string]string{"operation": operation, "timeZones": zones.Release()},
			telemetry.Metric{Name: "OutsideFailures", Value: failures, Unit: telemetry.Count})
		if err != nil {
			log.ErrorContext(ctx, "the check failed", "operation", operation, "cause", err.Error())
		}
		return nil // the metric reports it; Lambda would retry after an error
	})
}

// Known is what the secret contains.
type Known struct {
	// ClientID, Username and Password sign a person in at the stack's own pool. If they are empty, nobody signs in.
	ClientID string `json:"clientId"`
	Username string `json:"username"`
	Password string `json:"password"`
	// EdgeID and BoxToken are those of the box that polls. If they are empty, no box polls.
	EdgeID   string `json:"edgeId"`
	BoxToken string `json:"boxToken"`
}

// read reads the secret on each run, so that a new token or password needs no deploy.
func read(ctx context.Context, secrets secret.Manager, id string) (Known, error) {
	var known Known
	out, err := secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return known, fmt.Errorf("read the secret: %w", err)
	}
	if out.SecretString == nil || json.Unmarshal([]byte(*out.SecretString), &known) != nil {
		return known, errors.New("the secret is not a JSON object of strings") // without the cause, which may quote the secret
	}
	return known, nil
}
