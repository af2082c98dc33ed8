package admission_test

import (
	"errors"
	"net/http"
	"testing"

	"wavegate/shared/platform/admission"
	"wavegate/shared/testing/expect"
)

func TestWait_ContextWithoutAdmission_IsRefused(t *testing.T) {
	expect.That(t, admission.Wait(t.Context()) != nil, "a change without an admission was accepted")
}

func TestWait_Unlimited_IsAdmitted(t *testing.T) {
	err := admission.Wait(admission.Unlimited(t.Context()))
	expect.That(t, err == nil, "%v", err)
}

func TestWait_WaitsForTheDecision(t *testing.T) {
	refusal, decision := errors.New("over the limit"), make(chan struct{})
	a := admission.Ask(func() (http.Header, error) {
		<-decision
		return http.Header{"Retry-After": {"7"}}, refusal
	})
	heard := make(chan error, 2)
	for range 2 {
		go func() { heard <- admission.Wait(a.Context(t.Context())) }()
	}
	select {
	case err := <-heard:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	expect.That(t, !a.Refused(), "refused before the decision")
	close(decision)
	for range 2 {
		err := <-heard
		expect.That(t, errors.Is(err, refusal), "got %v, want the refusal", err)
	}
	expect.Equal(t, a.Header().Get("Retry-After"), "7", "Retry-After is")
}

func TestRefuse_IsKnownAtOnce(t *testing.T) {
	refusal := errors.New("over the limit")
	a := admission.Refuse(http.Header{"Retry-After": {"7"}}, refusal)
	if !a.Refused() || !errors.Is(admission.Wait(a.Context(t.Context())), refusal) || a.Header().Get("Retry-After") != "7" {
		t.Errorf("got %v with %v", a.Wait(), a.Header())
	}
}
