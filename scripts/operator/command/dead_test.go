package command_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// An order records what happens in order: calls, and lines that a person sees.
type order struct {
	mu   sync.Mutex
	list []string
}

func (o *order) add(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, text)
}

func (o *order) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		o.add(strings.TrimSpace(line))
	}
	return len(text), nil
}

// ordered runs the command as olga, against a service that is not the desk's own.
func (d *desk) ordered(service string, change func(*run.Environment), args ...string) (int, []string) {
	d.Helper()
	token := strings.TrimPrefix(d.Owner(d.T).Bearer, "Bearer ")
	d.env = map[string]string{"WAVEGATE_TOKEN": token, "WAVEGATE_URL": service}
	o := &order{}
	d.seen = func(r *http.Request) error { o.add(r.Method); return nil }
	e := d.environment(io.Discard, o)
	if change != nil {
		change(&e)
	}
	code := command.Run(d.Context(), args, e)
	o.mu.Lock()
	defer o.mu.Unlock()
	return code, o.list
}

// nobody is the address of a service that does not exist.
const nobody = "http://127.0.0.1:1"

// silent is the address of a service that accepts calls and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

// refused is what the command says if no service is there.
const refused = "wavegate: cannot reach " + nobody + ": connection refused; is the address right?"

func TestDeadService_ThatRefuses_IsSaidAtOnce(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{
		{"status"}, {"status", "gateway-x/stable"}, {"log"}, {"boxes", "gateway-x/stable"}, {"watch", "gateway-x/stable"}, {"whoami"},
		{"promote", "gateway-x/stable", "--yes"}, {"login", nobody},
	} {
		code, list := d.ordered(nobody, nil, args...)
		expect.Equal(t, code, run.Unknown, "%v exits with", args)
		expect.Equal(t, list, []string{"GET", refused}, "%v", args)
	}
}

// TestDeadService_Halt_SaysSo_BeforeItTriesAgain: it keeps trying until its patience ends.
func TestDeadService_Halt_SaysSo_BeforeItTriesAgain(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"halt", "gateway-x/stable"}, {"halt", "--all"}} {
		code, list := d.ordered(nobody, func(e *run.Environment) { e.Patience = time.Second }, args...)
		expect.Equal(t, code, run.Unknown, "%v exits with", args)
		expect.Must(t, len(list) >= 6, "%v: it only does %q", args, list)
		list = append(list[:5], list[len(list)-1])
		expect.Equal(t, list, []string{"GET", refused, "wavegate: trying again", "GET", "GET", refused}, "%v", args)
	}
}

// TestDeadService_Halt_GoesByTheRolloutThatWasSeenLast: the channel cannot be read.
func TestDeadService_Halt_GoesByTheRolloutThatWasSeenLast(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.answers = func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			<-r.Context().Done() // it never answers
			return nil, r.Context().Err()
		}
		return nil, nil
	}
	d.after = atOnce
	d.does("halt", "gateway-x/stable").is(run.Done).says("halted 1.1.0 on gateway-x/stable").warns("has not answered for 3 s", "trying again")
	d.answers = nil
	d.stands("halted", 1)
}

// atOnce is a clock that calls delayed functions immediately.
func atOnce(_ time.Duration, do func()) func() {
	do()
	return func() {}
}

func TestDeadService_ThatNeverAnswers_IsSaidAfterThreeSeconds(t *testing.T) {
	d := newDesk(t)
	service := silent(t)
	says := "wavegate: " + service + " has not answered for 3 s"
	for _, args := range [][]string{{"status"}, {"halt", "gateway-x/stable"}, {"halt", "--all"},
		{"log", "gateway-x/stable"}, {"login", service}} {
		var waits []time.Duration
		var mu sync.Mutex
		code, list := d.ordered(service, func(e *run.Environment) {
			e.Patience, e.HTTP.Timeout = 0, 300*time.Millisecond
			e.After = func(wait time.Duration, do func()) func() {
				mu.Lock()
				defer mu.Unlock()
				waits = append(waits, wait)
				return atOnce(wait, do)
			}
		}, args...)
		if code != run.Unknown || len(list) < 2 || list[len(list)-1] != "wavegate: "+service+" did not answer: it took too long" {
			t.Errorf("%v exited with %d, after %q", args, code, list)
		}
		first := strings.Join(list[:min(len(list), 2)], "\n")
		if !strings.Contains(first, says) || waits[0] != 3*time.Second {
			t.Errorf("%v says it late, after %v: %q", args, waits[0], list)
		}
	}
}

func TestDeadService_HostThatIsNotThere_IsNamed(t *testing.T) {
	d := newDesk(t)
	d.seen = func(*http.Request) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.example.invalid", IsNotFound: true}}
	}
	d.does("status").is(run.Unknown).warns("cannot reach "+d.Target.URL, "there is no host api.example.invalid; is the address right?")
}
