// Package expect compares what a test got with what it wants. A failure shows only what differs.
package expect

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// T is a test, or one case of a property.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// options compare fields of any name, and times by instant and zone: a stored time has one form only.
var options = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.Location().String() == b.Location().String() }),
}

// Equal checks that two values are equal. The format, with its arguments, says what they are.
func Equal[V any](t T, got, want V, format string, args ...any) {
	t.Helper()
	diff := cmp.Diff(want, got, options)
	if diff == "" {
		return
	}
	what := fmt.Sprintf(format, args...)
	if kind := reflect.ValueOf(want).Kind(); kind < reflect.Array || kind == reflect.String {
		t.Errorf("%s %s, want %s", what, show(got), show(want))
		return
	}
	t.Errorf("%s differs (- want, + got):\n%s", what, diff)
}

func show(v any) string {
	if reflect.ValueOf(v).Kind() == reflect.String {
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// That checks that something is so. The format, with its arguments, says what is wrong otherwise.
func That(t T, is bool, format string, args ...any) {
	t.Helper()
	if !is {
		t.Errorf(format, args...)
	}
}

// Must is That, but ends the test if it is not so.
func Must(t T, is bool, format string, args ...any) {
	t.Helper()
	if !is {
		t.Fatalf(format, args...)
	}
}

// OK ends the test if what it needs has failed.
func OK(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Value returns what a call returned, and ends the test if the call failed: v := expect.Value(f())(t).
func Value[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Error checks that an error says something. An empty text means that there is no error.
func Error(t T, err error, says, format string, args ...any) {
	t.Helper()
	if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%s the error %v, want %q", fmt.Sprintf(format, args...), err, says)
	}
}

// Long is the second value in a long run of the tests, which sets LONG, and the first in others.
func Long[V any](others, long V) V {
	if os.Getenv("LONG") != "" {
		return long
	}
	return others
}
