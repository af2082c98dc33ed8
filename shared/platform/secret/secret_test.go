package secret

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"wavegate/shared/testing/expect"
)

// A vault is a Secrets Manager with one secret.
type vault struct {
	value string
	err   error
	reads int
	stage string // that was asked for last
}

func (v *vault) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	v.reads++
	v.stage = aws.ToString(in.VersionStage)
	if *in.SecretId != "wavegate/copilot" {
		return nil, errors.New("there is no such secret")
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: &v.value}, v.err
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestSecret_IsReadOnceInFiveMinutes_SoARotationArrivesWithinThem(t *testing.T) {
	now, v := noon, &vault{value: "old"}
	s := Cached{ID: "wavegate/copilot", Client: v, Now: func() time.Time { return now }, Check: anything}
	for _, step := range []struct {
		after time.Duration
		value string // what Secrets Manager has from then on
		want  string
		reads int
	}{
		{0, "old", "old", 1},
		{time.Minute, "new", "old", 1},
		{age - time.Second, "new", "old", 1},
		{age, "new", "new", 2},
		{2*age - time.Second, "newer", "new", 2},
		{2 * age, "newer", "newer", 3},
	} {
		now, v.value = noon.Add(step.after), step.value
		if got, err := s.Get(t.Context()); got != step.want || err != nil || v.reads != step.reads {
			t.Errorf("after %s: %q, %v, %d reads; want %q, %d", step.after, got, err, v.reads, step.want, step.reads)
		}
	}
}

func TestSecret_ThatCannotBeReadAgain_ServesOnForAnHour(t *testing.T) {
	now, v := noon, &vault{value: "old"}
	s := Cached{ID: "wavegate/copilot", Client: v, Now: func() time.Time { return now }, Check: anything}
	expect.Value(s.Get(t.Context()))(t)
	v.err = errors.New("out of reach")
	for _, step := range []struct {
		after time.Duration
		want  string
		reads int
	}{
		{age, "old", 2},
		{age + Retry - time.Second, "old", 2}, // not asked at every call
		{age + Retry, "old", 3},
		{grace - time.Second, "old", 4},
		{grace, "", 5},
	} {
		now = noon.Add(step.after)
		if got, err := s.Get(t.Context()); got != step.want || (err != nil) != (step.want == "") || v.reads != step.reads {
			t.Errorf("after %s: %q, %v, %d reads; want %q, %d", step.after, got, err, v.reads, step.want, step.reads)
		}
	}
	v.err = nil
	got, err := s.Get(t.Context())
	expect.That(t, got == "old" && err == nil, "back in reach: %q, %v", got, err)
}

// TestSecret_AfterAFreeze_IsReadAgain: a frozen container's monotonic clock stops, so ages are measured by the wall
// clock.
func TestSecret_AfterAFreeze_IsReadAgain(t *testing.T) {
	now, v := time.Now(), &vault{value: "old"}
	s := Cached{ID: "wavegate/copilot", Client: v, Now: func() time.Time { return now }, Check: anything}
	expect.Value(s.Get(t.Context()))(t)
	v.value, now = "new", now.Round(0).Add(age) // without a monotonic reading
	got, err := s.Get(t.Context())
	expect.That(t, got == "new" && err == nil, "%q, %v", got, err)
}

func TestSecret_ThatCannotBeUsed_IsRefused(t *testing.T) {
	s := Cached{ID: "wavegate/copilot", Client: &vault{value: "short"}, Now: time.Now, Check: func(value string) error { return errors.New("too short") }}
	got, err := s.Get(t.Context())
	expect.That(t, err != nil && got == "", "taken as %q", got)
}

// TestSecret_BeforeThePresentOne_IsEmptyUntilItWasRotated: only a missing previous value is not an error.
func TestSecret_BeforeThePresentOne_IsEmptyUntilItWasRotated(t *testing.T) {
	v := &vault{err: &types.ResourceNotFoundException{}}
	now := noon
	s := Cached{ID: "wavegate/copilot", Before: true, Client: v, Now: func() time.Time { return now }, Check: anything}
	for range 2 {
		if got, err := s.Get(t.Context()); got != "" || err != nil || v.reads != 1 || v.stage != "AWSPREVIOUS" {
			t.Errorf("%q, %v, %d reads of %q", got, err, v.reads, v.stage)
		}
	}
	now, v.err, v.value = noon.Add(age), nil, "old"
	if got, err := s.Get(t.Context()); got != "old" || err != nil {
		t.Errorf("after a rotation: %q, %v", got, err)
	}
	missing := Cached{ID: "wavegate/copilot", Client: &vault{err: &types.ResourceNotFoundException{}}, Now: time.Now, Check: anything}
	_, err := missing.Get(t.Context())
	expect.That(t, err != nil, "a missing current secret is accepted")
}

func anything(string) error { return nil }
