package harness

import (
	"fmt"
	"net/http"
	"testing"

	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
)

// Make makes a sample's call as its caller.
func (t Target) Make(tb testing.TB, c samples.Call) Answer {
	tb.Helper()
	return t.By(tb, c).Do(tb, c.Method, c.Path, c.Body, c.Header[:]...)
}

// By returns the caller of a sample's call.
func (t Target) By(tb testing.TB, c samples.Call) *Caller {
	tb.Helper()
	if c.By.Role == auth.Enrolment {
		return &Caller{URL: t.URL, Bearer: "Bearer " + c.By.Code()}
	}
	return t.As(tb, c.By.User, c.By.Organization, c.By.Role)
}

// A Session makes the resources of samples, on one target.
type Session struct{ samples.Session }

// Session begins a session with the values. A call that fails ends the test.
func (t Target) Session(tb testing.TB, values samples.Values) *Session {
	return &Session{samples.Session{Values: values, Do: func(c samples.Call) (http.Header, []byte, error) {
		a := t.Make(tb, c)
		if a.Status/100 != 2 {
			return nil, nil, fmt.Errorf("answered %d %s", a.Status, a.Body)
		}
		return a.Header, a.Body, nil
	}}}
}

// Call makes the resources of an operation's sample, and returns the sample's call.
func (s *Session) Call(tb testing.TB, operation string) samples.Call {
	tb.Helper()
	c, err := s.Prepare(operation, samples.Case{})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Samples makes all resources of the samples in the event files, and returns the samples' calls by operation.
func (t Target) Samples(tb testing.TB) map[string]samples.Call {
	tb.Helper()
	session, calls := t.Session(tb, samples.Fixed()), map[string]samples.Call{}
	for _, s := range samples.All {
		calls[s.Operation] = session.Call(tb, s.Operation)
	}
	return calls
}
