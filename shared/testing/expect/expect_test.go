package expect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// A recorder is a test that notes its failures.
type recorder struct{ failed []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf("fatal: "+format, args...) }

func TestExpect_Difference_IsSaid(t *testing.T) {
	type pair struct {
		a string
		b any
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	down := errors.New("the store is down")
	for name, c := range map[string]struct {
		check func(expect.T)
		says  []string // nothing, if the check passes
	}{
		"equal numbers":      {func(t expect.T) { expect.Equal(t, 1, 1, "the sum is") }, nil},
		"other numbers":      {func(t expect.T) { expect.Equal(t, 1, 2, "the %s is", "sum") }, []string{"the sum is 1, want 2"}},
		"another kind":       {func(t expect.T) { expect.Equal[any](t, int64(1), 1, "the sum is") }, []string{"the sum is 1, want 1"}},
		"equal structs":      {func(t expect.T) { expect.Equal(t, pair{"x", 1}, pair{"x", 1}, "it") }, nil},
		"a field":            {func(t expect.T) { expect.Equal(t, pair{"x", 1}, pair{"y", 1}, "it") }, []string{`- 	a: "y"`, `+ 	a: "x"`}},
		"an empty list":      {func(t expect.T) { expect.Equal(t, []int{}, nil, "it") }, []string{"it differs"}},
		"another zone":       {func(t expect.T) { expect.Equal(t, noon.In(time.FixedZone("x", 3600)), noon, "it") }, []string{"it differs"}},
		"what is so":         {func(t expect.T) { expect.That(t, true, "no"); expect.Must(t, true, "no") }, nil},
		"what is not":        {func(t expect.T) { expect.That(t, false, "%d%%", 5) }, []string{"5%"}},
		"what must be":       {func(t expect.T) { expect.Must(t, false, "%d%%", 5) }, []string{"fatal: 5%"}},
		"no error":           {func(t expect.T) { expect.OK(t, nil); expect.Error(t, nil, "", "it says") }, nil},
		"a failure":          {func(t expect.T) { expect.OK(t, down) }, []string{"fatal: the store is down"}},
		"a value":            {func(t expect.T) { expect.Equal(t, expect.Value(1, nil)(t), 1, "it is") }, nil},
		"no value":           {func(t expect.T) { expect.Value(1, down)(t) }, []string{"fatal: the store is down"}},
		"the error":          {func(t expect.T) { expect.Error(t, down, "store", "it says") }, nil},
		"an unwanted error":  {func(t expect.T) { expect.Error(t, down, "", "it says") }, []string{`it says the error the store is down, want ""`}},
		"another error":      {func(t expect.T) { expect.Error(t, down, "disk", "it says") }, []string{`it says the error the store is down, want "disk"`}},
		"no error but one's": {func(t expect.T) { expect.Error(t, nil, "disk", "it says") }, []string{`it says the error <nil>, want "disk"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			c.check(r)
			said := strings.ReplaceAll(strings.Join(r.failed, "\n"), "\u00a0", " ")
			if (said == "") != (c.says == nil) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
			for _, part := range c.says {
				if !strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(part), " ")) {
					t.Errorf("it says %q, want %q", said, part)
				}
			}
		})
	}
}

func TestLong_ReturnsTheSecondValue_InALongRun(t *testing.T) {
	t.Setenv("LONG", "")
	expect.Equal(t, expect.Long(3, 300), 3, "in others:")
	t.Setenv("LONG", "1")
	expect.Equal(t, expect.Long(3, 300), 300, "in a long run:")
}
