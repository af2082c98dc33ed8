package telemetry

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func emitted(t *testing.T, properties map[string]string, metrics ...Metric) map[string]any {
	t.Helper()
	var out strings.Builder
	Emit(&out, noon, properties, metrics...)
	expect.Must(t, strings.HasSuffix(out.String(), "\n") && strings.Count(out.String(), "\n") == 1,
		"emitted %q, want one line", out.String())
	var line map[string]any
	expect.OK(t, json.Unmarshal([]byte(out.String()), &line))
	return line
}

// TestEmit_Properties_AreNoDimensions: AWS bills every set of dimension values as a metric.
func TestEmit_Properties_AreNoDimensions(t *testing.T) {
	t.Setenv(Stage, "prod")
	got := emitted(t, map[string]string{"operation": "get-rollout"}, One("Calls"), Metric{Name: "Waits", Value: 1.5, Unit: Seconds})
	want := map[string]any{
		"stage": "prod", "operation": "get-rollout", "Calls": 1.0, "Waits": 1.5,
		"_aws": map[string]any{
			"Timestamp": float64(noon.UnixMilli()),
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  "Wavegate",
				"Dimensions": []any{[]any{"stage"}},
				"Metrics": []any{
					map[string]any{"Name": "Calls", "Unit": "Count"},
					map[string]any{"Name": "Waits", "Unit": "Seconds"},
				},
			}},
		},
	}
	expect.Equal(t, got, want, "emitted")
}

func TestEmit_WithoutAStage_HasTheStageLocal(t *testing.T) {
	t.Setenv(Stage, "")
	if got := emitted(t, nil, One("Calls")); got["stage"] != "local" {
		t.Errorf("the stage is %v, want local", got["stage"])
	}
}

func TestEmit_NaNOrInfinity_WritesNothing(t *testing.T) {
	var out strings.Builder
	Emit(&out, noon, nil, Metric{Name: "Duration", Value: math.NaN(), Unit: Seconds})
	expect.That(t, out.Len() == 0, "emitted %q, want nothing", out.String())
}
