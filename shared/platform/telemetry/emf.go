// Package telemetry writes metrics in CloudWatch's embedded metric format: one JSON line on standard
// output, from which CloudWatch makes metrics, without a call and without a library.
//
// Source: Amazon CloudWatch, "Specification: Embedded metric format".
package telemetry

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// Namespace holds all metrics of the service.
const Namespace = "Wavegate"

// A Unit is a CloudWatch unit.
type Unit string

// The units in use.
const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
	Seconds      Unit = "Seconds"
)

// A Metric is one figure, or several of one kind.
type Metric struct {
	Name  string
	Value float64
	Unit  Unit
	// Values, where set, are sent in place of Value: CloudWatch takes each as a figure of its own, MostValues
	// at most.
	Values []float64
}

// MostValues is how many values of one metric CloudWatch takes in one line.
const MostValues = 100

// One counts one thing.
func One(name string) Metric { return Metric{Name: name, Value: 1, Unit: Count} }

// Stage is the environment variable that names the stage of the service, so that two stages in one
// account keep their figures apart. Where it is not set, the stage is "local".
const Stage = "STAGE"

// stage is also the dimension's name.
const stage = "stage"

// Emit writes one line with the metrics, once for the whole stage and once under the dimensions
// beside it. Every distinct set of dimension values is billed as a metric of its own, so they must
// stay few: an operation, never a caller. More than 100 metrics in one line are refused by
// CloudWatch.
func Emit(w io.Writer, now time.Time, dimensions map[string]string, metrics ...Metric) {
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
	if len(dimensions) > 0 {
		d.Dimensions = append(d.Dimensions, append([]string{stage}, slices.Sorted(maps.Keys(dimensions))...))
	}
	line := map[string]any{stage: cmp.Or(os.Getenv(Stage), "local")}
	for _, m := range metrics {
		d.Metrics = append(d.Metrics, definition{m.Name, m.Unit})
		line[m.Name] = m.Value
		if m.Values != nil {
			line[m.Name] = m.Values
		}
	}
	for k, v := range dimensions {
		line[k] = v
	}
	line["_aws"] = map[string]any{"Timestamp": now.UnixMilli(), "CloudWatchMetrics": []directive{d}}
	b, err := json.Marshal(line)
	if err != nil {
		// Only a NaN or an infinite value cannot be written; it is no figure worth failing a call for.
		return
	}
	_, _ = w.Write(append(b, '\n'))
}
