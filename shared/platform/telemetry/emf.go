// Package telemetry writes metrics in CloudWatch's embedded metric format. CloudWatch makes
// metrics from one JSON line on standard output, so no network call and no library is needed.
//
// Source: Amazon CloudWatch, "Specification: Embedded metric format".
package telemetry

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"time"
)

// Namespace holds all metrics of the service.
const Namespace = "Wavegate"

// A Unit is a CloudWatch unit.
type Unit string

// The units in use.
const (
	Count   Unit = "Count"
	Seconds Unit = "Seconds"
)

// A Metric is one value.
type Metric struct {
	Name  string
	Value float64
	Unit  Unit
}

// One is a metric with the value 1.
func One(name string) Metric { return Metric{Name: name, Value: 1, Unit: Count} }

// Stage is the environment variable with the name of the service's stage. It keeps the metrics
// of two stages in one account apart. The default is "local".
const Stage = "STAGE"

// stage is also the name of the metric dimension.
const stage = "stage"

// Emit writes one line with the metrics. The stage is their only dimension, because AWS bills every distinct set of
// dimension values as a metric. The properties, such as the operation, are in the line for whoever queries the logs.
// CloudWatch refuses more than 100 metrics in one line.
func Emit(w io.Writer, now time.Time, properties map[string]string, metrics ...Metric) {
	type definition struct {
		Name string
		Unit Unit
	}
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	d := directive{Namespace: Namespace, Dimensions: [][]string{{stage}}}
	line := map[string]any{stage: cmp.Or(os.Getenv(Stage), "local")}
	for _, m := range metrics {
		d.Metrics = append(d.Metrics, definition{m.Name, m.Unit})
		line[m.Name] = m.Value
	}
	for k, v := range properties {
		line[k] = v
	}
	line["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": []directive{d}}
	b, err := json.Marshal(line)
	if err != nil {
		// Only NaN and infinite values cannot be written, and a call must not fail because of them.
		return
	}
	_, _ = w.Write(append(b, '\n'))
}
