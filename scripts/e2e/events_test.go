package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
)

// The ids that stand in the sample events; the test puts in those of what it made.
const (
	sampleRollout = "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"
	sampleMethod  = "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70"
)

// TestEvents_EverySample_IsOfItsOperationAndSucceeds hands each file of events to the function that it
// is for. Without a sample an operation is not complete.
func TestEvents_EverySample_IsOfItsOperationAndSucceeds(t *testing.T) {
	for _, op := range operations.Table {
		t.Run(op.ID, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", "events", op.ID+".json"))
			if err != nil {
				t.Fatal(err)
			}
			w := harness.New(t, withAssistant(t))
			text = []byte(seeded(t, w, op.ID).Replace(string(text)))
			var e events.APIGatewayProxyRequest
			if err := json.Unmarshal(text, &e); err != nil {
				t.Fatal(err)
			}
			if e.Resource != op.Path || e.RequestContext.ResourcePath != op.Path || op.Method != operations.Any && e.HTTPMethod != op.Method {
				t.Errorf("the sample is of %s %s", e.HTTPMethod, e.Resource)
			}
			for _, name := range op.Parameters() {
				if e.PathParameters[name] == "" {
					t.Errorf("the sample has no path parameter %s", name)
				}
			}
			raw, err := w.Function(op.ID).Invoke(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			var answer events.APIGatewayProxyResponse
			if err := json.Unmarshal(raw, &answer); err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode < 200 || answer.StatusCode > 299 {
				t.Errorf("answered %d %s", answer.StatusCode, answer.Body)
			}
		})
	}
}

// box is the body that puts a box on the channel that the tests publish on.
const box = `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`

// seeded makes what an operation's sample acts on.
func seeded(t *testing.T, w *harness.World, op string) *strings.Replacer {
	t.Helper()
	owner := w.Owner(t)
	rollout, made := "", ""
	switch op {
	case "publish-release", "put-factory", "put-edge", "list-edges":
	case "get-edge", "get-manifest":
		owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		owner.Put(t, "/api/edges/box-0001", box).Is(t, http.StatusCreated)
	case "get-rate-limit", "delete-rate-limit":
		owner.Put(t, "/api/rate-limits/users/eric", `{"limit":1200}`).Is(t, http.StatusCreated)
	default:
		owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		factory(t, w, "munich-1", "acme")
		made = w.Engineer(t, "acme").Post(t, methods, method).Is(t, http.StatusCreated).Header.Get("Location")
		if op == "get-machine" {
			w.Engineer(t, "acme").Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press 1"}`).Is(t, http.StatusCreated)
		}
		if op != "start-rollout" {
			rollout = owner.Post(t, rollouts, plan("gateway-x", "stable", "1.0.0")).Is(t, http.StatusCreated).Header.Get("Location")
		}
	}
	return strings.NewReplacer(sampleRollout, id(rollout), sampleMethod, id(made))
}
