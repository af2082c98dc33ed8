package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/operations"
)

// TestEvents_EverySample_Succeeds hands each operation's event file to its function, where what it acts
// on was made. The ids that the service gave stand in for those of the file.
func TestEvents_EverySample_Succeeds(t *testing.T) {
	for _, op := range operations.Table {
		t.Run(op.ID, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", "events", op.ID+".json"))
			if err != nil {
				t.Fatal(err)
			}
			w := harness.New(t, withAssistant(t))
			session := w.Session(t, samples.Fixed())
			session.Call(t, op.ID)
			for _, s := range samples.All {
				if s.Makes != "" {
					text = bytes.ReplaceAll(text, []byte(samples.Fixed()[s.Makes]), []byte(session.Values[s.Makes]))
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
