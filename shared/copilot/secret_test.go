package copilot

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// A vault is a Secrets Manager with one secret.
type vault struct {
	value string
	err   error
	reads int
}

func (v *vault) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	v.reads++
	if *in.SecretId != "wavegate/copilot" {
		return nil, errors.New("there is no such secret")
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: &v.value}, v.err
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestSecret_IsReadOnceInFiveMinutes_SoARotationArrivesWithinThem(t *testing.T) {
	now, v := noon, &vault{value: "old"}
	s := secret{id: "wavegate/copilot", secrets: v, now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		value string // what Secrets Manager has from then on
		want  string
		reads int
	}{
		{0, "old", "old", 1},
		{time.Minute, "new", "old", 1},
		{secretAge - time.Second, "new", "old", 1},
		{secretAge, "new", "new", 2},
		{2*secretAge - time.Second, "newer", "new", 2},
		{2 * secretAge, "newer", "newer", 3},
	} {
		now, v.value = noon.Add(step.after), step.value
		if got, err := s.get(t.Context()); got != step.want || err != nil || v.reads != step.reads {
			t.Errorf("after %s: %q, %v, %d reads; want %q, %d", step.after, got, err, v.reads, step.want, step.reads)
		}
	}
}

func TestSecret_ThatCannotBeReadAgain_ServesOnForAnHour(t *testing.T) {
	now, v := noon, &vault{value: "old"}
	s := secret{id: "wavegate/copilot", secrets: v, now: func() time.Time { return now }}
	if _, err := s.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.err = errors.New("out of reach")
	for _, step := range []struct {
		after time.Duration
		want  string
		reads int
	}{
		{secretAge, "old", 2},
		{secretAge + secretRetry - time.Second, "old", 2}, // not asked at every call
		{secretAge + secretRetry, "old", 3},
		{secretGrace - time.Second, "old", 4},
		{secretGrace, "", 5},
	} {
		now = noon.Add(step.after)
		if got, err := s.get(t.Context()); got != step.want || (err != nil) != (step.want == "") || v.reads != step.reads {
			t.Errorf("after %s: %q, %v, %d reads; want %q, %d", step.after, got, err, v.reads, step.want, step.reads)
		}
	}
	v.err = nil
	if got, err := s.get(t.Context()); got != "old" || err != nil {
		t.Errorf("back in reach: %q, %v", got, err)
	}
}

// TestSecret_AfterAFreeze_IsReadAgain: a frozen container's monotonic clock stands still, so that ages are
// taken by the wall clock.
func TestSecret_AfterAFreeze_IsReadAgain(t *testing.T) {
	now, v := time.Now(), &vault{value: "old"}
	s := secret{id: "wavegate/copilot", secrets: v, now: func() time.Time { return now }}
	if _, err := s.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.value, now = "new", now.Round(0).Add(secretAge) // no monotonic reading to go by
	if got, err := s.get(t.Context()); got != "new" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSecret_ThatIsNoHeader_IsRefused(t *testing.T) {
	for _, value := range []string{"", "a\nb", "50%", "m\u00fcller"} {
		s := secret{id: "wavegate/copilot", secrets: &vault{value: value}, now: time.Now}
		if got, err := s.get(t.Context()); err == nil {
			t.Errorf("%q is taken as %q", value, got)
		}
	}
}
