package polling_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/uuid"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/bell/keys"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

const secret bell.Secret = "a-secret-of-these-tests-that-is-long-enough"

// A listener is a place with a bell.
type listener struct {
	*place
	sizes bell.Sizes
	lost  error // why counts cannot be read
	log   bytes.Buffer
}

// listening runs a test on each store, with a bell.
func listening(t *testing.T, test func(t *testing.T, l *listener)) {
	t.Setenv("BELL_URL", "https://bell.example/")
	t.Setenv("BELL_SECRET", string(secret))
	polled(t, func(t *testing.T, p *place) {
		l := &listener{place: p}
		l.attach(t)
		p.registry.Ringing(bell.NewStore(p.db, 5*time.Minute, slog.New(slog.NewTextHandler(&l.log, nil))))
		test(t, l)
	})
}

// attach makes polls with empty caches and a bell.
func (l *listener) attach(t *testing.T) {
	t.Helper()
	l.polls = polling.NewPolls(l.db, polling.Settings{PollInterval: time.Minute, IdlePollInterval: 5 * time.Minute, ChannelCache: time.Hour, Shards: 1}, nil, time.Now)
	r := setting.NewValues(polling.ListeningSettings...)
	l.polls.With(polling.NewListening(r, keys.Read(r, noVault{}, time.Now), func(context.Context, string) (bell.Sizes, error) {
		l.count("a rollout", "counted")
		return l.sizes, l.lost
	}, time.Now))
	expect.OK(t, r.Err())
}

// noVault is an unreachable Secrets Manager.
type noVault struct{}

func (noVault) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return nil, errors.New("unreachable")
}

// listen polls as a listening box.
func (l *listener) listen(t *testing.T, installed, tag string) polling.Reply {
	t.Helper()
	reply, err := l.polls.Answer(admission.Unlimited(t.Context()), polling.Poll{EdgeID: l.id, Installed: installed, Listens: true, Caller: "the box", Tag: tag, Subject: "its subject"})
	expect.OK(t, err)
	return reply
}

// bell returns what the bell of a channel says.
func (l *listener) bell(t *testing.T, channel string) bell.Response {
	t.Helper()
	t.Setenv("CHANNEL_CACHE_SECONDS", "0")
	r := setting.NewValues(polling.BellSettings...)
	a := expect.Value(polling.NewBell(l.db, r, time.Now).Ask(t.Context(), secret, secret.Address(l.box.EdgeType, channel)))(t)
	return a
}

// called reports whether the bell of a channel calls the box.
func (l *listener) called(t *testing.T, channel string) bool {
	t.Helper()
	calls := l.bell(t, channel).Calls
	return len(calls) == 1 && calls[0] == secret.Call(l.id)
}

// forgetCalls removes all calls of a channel.
func (l *listener) forgetCalls(t *testing.T, channel string) {
	t.Helper()
	was := expect.Value(bell.Get(t.Context(), l.db, l.box.EdgeType, channel))(t)
	next := was
	next.Calls, next.Revision = nil, was.Revision+1
	expect.OK(t, l.db.Put(admission.Unlimited(t.Context()), dynamo.Bells, nil, next, dynamo.AtRevision("edgeType", was.Revision)))
}

func TestPoll_ThatListens_IsToldWhereAndByWhatCode_AndPollsAtItsHeartbeat(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		plain, told := l.ask(t, "1.0.0", ""), l.listen(t, "1.0.0", "")
		want := polling.Address{URL: "https://bell.example" + secret.Address(l.box.EdgeType, l.box.Channel).Path(), Call: secret.Call(l.id)}
		if m := told.Manifest; m.Bell == nil || *m.Bell != want || m.PollIntervalSeconds != 21_600 || told.NoBell != nil {
			t.Errorf("told %+v %+v, want %+v", m, m.Bell, want)
		}
		expect.That(t, !strings.Contains(string(plain.Body), "bell") && plain.Manifest.PollIntervalSeconds == 60,
			"a box that does not listen is told %s", plain.Body)
		told.Manifest.Bell, told.Manifest.PollIntervalSeconds = nil, plain.Manifest.PollIntervalSeconds
		expect.That(t, reflect.DeepEqual(told.Manifest, plain.Manifest),
			"apart from that, the answers are %+v and %+v", told.Manifest, plain.Manifest)
	})
}

func TestPoll_ThatListensWithoutARollout_ReadsNothingMore(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		tag := l.listen(t, "1.0.0", "").ETag
		clear(l.calls)
		for range 20 {
			reply := l.listen(t, "1.0.0", tag)
			expect.Must(t, reply.NotModified, "got %s", reply.Body)
		}
		want := map[string]int{dynamo.Reports.Name() + " eventually": 20}
		expect.That(t, maps.Equal(l.calls, want), "20 polls made the calls %v, want %v", l.calls, want)
	})
}

// TestPoll_DuringARollout_GoesByItsLastCount, read once for all polls of ten seconds.
func TestPoll_DuringARollout_GoesByItsLastCount(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		l.listen(t, "1.0.0", "")
		l.rollOut(t, "2.0.0")
		for why, c := range map[string]struct {
			sizes bell.Sizes
			lost  error
			want  int
		}{
			"not counted yet":          {nil, nil, 300},
			"a small stage":            {bell.Sizes{1: 900, 10: 900, 50: 900, 100: 900}, nil, 300},
			"a huge stage":             {bell.Sizes{1: 1 << 30, 10: 1 << 30, 50: 1 << 30, 100: 1 << 30}, nil, 21_600},
			"the count cannot be read": {bell.Sizes{1: 1 << 30, 10: 1 << 30, 50: 1 << 30, 100: 1 << 30}, errors.New("no answer"), 300},
			"a stage that is missing":  {bell.Sizes{}, nil, 300},
		} {
			l.sizes, l.lost = c.sizes, c.lost
			l.attach(t)
			clear(l.calls)
			for range 3 {
				m := l.listen(t, "2.0.0", "").Manifest
				expect.That(t, m.PollIntervalSeconds == c.want, "%s: %d s, want %d", why, m.PollIntervalSeconds, c.want)
			}
			if n := l.calls["a rollout counted"]; n != 1 && c.lost == nil {
				t.Errorf("%s: three polls made %d reads of the count", why, n)
			}
		}
	})
}

// TestPoll_DuringARollout_IsOftenForBoxesThatItReached_AndThoseThatTheGuardComparesThemWith.
func TestPoll_DuringARollout_IsOftenForBoxesThatItReached_AndThoseThatTheGuardComparesThemWith(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		poll := func() int {
			l.attach(t)
			reply, err := l.polls.Answer(admission.Unlimited(t.Context()), polling.Poll{EdgeID: l.id, Installed: "1.0.0", Caller: "the box", Subject: "its subject"})
			expect.OK(t, err)
			return reply.Manifest.PollIntervalSeconds
		}
		l.sizes = bell.Sizes{1: 1 << 30, 10: 1 << 30, 50: 1 << 30, 100: 1 << 30}
		l.publish(t, "lab-"+l.box.Channel, "2.0.0")
		target := "2.0.0"
		expect.Value(rollout.NewStore(l.db).Start(admission.Unlimited(t.Context()), audit.Origin{},
			rollout.Plan{EdgeType: l.box.EdgeType, Channel: l.box.Channel, TargetVersion: target}, idempotency.Claim{}))(t)
		for _, reached := range []bool{false, true} {
			for i := 0; cohort.Of(l.box.EdgeType, target, l.id).In(1) != reached; i++ {
				l.id = fmt.Sprint(l.box.Channel, "-", i)
			}
			_, err := l.registry.Put(admission.Unlimited(t.Context()), audit.Origin{}, l.id, l.box, input.Preconditions{})
			expect.OK(t, err)
			l.sizes = bell.Sizes{1: 1 << 30, 10: 1 << 30, 50: 1 << 30, 100: 1 << 30}
			expect.Equal(t, poll(), map[bool]int{true: 60, false: 300}[reached], "the interval of a box that is reached: %v", reached)
			l.sizes = bell.Sizes{1: 900, 10: 900, 50: 900, 100: 900}
			expect.Equal(t, poll(), 60, "the interval of a box that is compared")
		}
	})
}

// TestPoll_TheSecretCannotBeRead_IsAnsweredAsToABoxThatDoesNotListen: the bell must not fail a poll.
func TestPoll_TheSecretCannotBeRead_IsAnsweredAsToABoxThatDoesNotListen(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		t.Setenv("BELL_SECRET", "")
		t.Setenv("BELL_SECRET_ID", "wavegate/bell")
		l.attach(t)
		reply := l.listen(t, "1.0.0", "")
		if reply.NoBell == nil || reply.Manifest.Bell != nil || reply.Manifest.PollIntervalSeconds != 60 || reply.Manifest.Version != "1.0.0" {
			t.Errorf("got %+v", reply)
		}
	})
}

func TestBell_RingsWithEachChangeOfTheChannel_WithoutAWrite(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		quiet := l.bell(t, l.box.Channel)
		if again := l.bell(t, l.box.Channel); again.ETag != quiet.ETag || quiet.IntervalSeconds != 60 || len(quiet.Calls) != 0 {
			t.Errorf("%+v, and again %+v", quiet, again)
		}
		rollouts, id := l.rollOut(t, "2.0.0")
		started := l.bell(t, l.box.Channel)
		if _, err := rollouts.Move(admission.Unlimited(t.Context()), audit.Origin{}, id, rollout.Move{Status: rollout.Halted}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		halted := l.bell(t, l.box.Channel)
		expect.That(t, started.Sound != quiet.Sound && halted.Sound != started.Sound,
			"quiet %s, started %s, halted %s", quiet.Sound, started.Sound, halted.Sound)
		n := l.calls[dynamo.Bells.Name()+" puts"]
		expect.That(t, n == 0, "%d rings were written", n)
	})
}

func TestRegistry_EachChangeOfABox_CallsItWhereItListens(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		old, other := l.box.Channel, "c-"+uuid.NewString()
		expect.That(t, !l.called(t, old), "a box that was never told where to listen is called")
		ctx := admission.Unlimited(t.Context())
		step := func(what string, change func() error, channels ...string) {
			t.Helper()
			expect.OK(t, change())
			for _, channel := range channels {
				expect.That(t, l.called(t, channel), "%s: the box is not called at %s", what, channel)
				l.forgetCalls(t, channel)
			}
		}
		put := func(a edge.Assignment) func() error {
			return func() error {
				_, err := l.registry.Put(ctx, audit.Origin{}, l.id, a, input.Preconditions{})
				return err
			}
		}
		sold, moved := l.box, l.box
		sold.OrganizationID = "initech"
		moved.Channel = other
		step("another organization", put(sold), old)
		step("a token", func() error {
			return l.registry.SetToken(ctx, audit.Origin{}, l.id, strings.Repeat("a", 64), input.Preconditions{})
		}, old)
		step("the token is ended", func() error { return l.registry.EndTokens(ctx, audit.Origin{}, l.id, input.Preconditions{}) }, old)
		step("another channel", put(moved), old, other)
		step("among many", func() error {
			_, err := l.registry.PutAll(ctx, audit.Origin{}, []edge.BatchItem{{EdgeID: l.id, Assignment: l.box}, {EdgeID: "new-" + l.id, Assignment: l.box}},
				idempotency.Claim{}, func(context.Context) (error, error) { return nil, nil })
			return err
		}, other, old)
		step("retired", func() error { return l.registry.Retire(ctx, audit.Origin{}, l.id, input.Preconditions{}) }, old)
		step("registered again", put(l.box), old)
		err := put(l.box)()
		expect.That(t, err == nil && !l.called(t, old), "nothing changed, and the box is called: %v", err)
	})
}

// TestRegistry_TheRingIsLost_TheChangeHolds_AndTheBoxLearnsAtItsHeartbeat: nothing rings, but the next poll tells the
// box.
func TestRegistry_TheRingIsLost_TheChangeHolds_AndTheBoxLearnsAtItsHeartbeat(t *testing.T) {
	listening(t, func(t *testing.T, l *listener) {
		told := l.listen(t, "1.0.0", "")
		quiet := l.bell(t, l.box.Channel)
		l.put = func(context.Context) error { return errors.New("throttled") }
		moved := l.box
		moved.OrganizationID = "initech"
		moved.Channel = "c-" + uuid.NewString()
		if _, err := publication.NewStore(l.db).Publish(admission.Unlimited(t.Context()), audit.Origin{}, release.Publication{EdgeType: l.box.EdgeType, Channel: moved.Channel,
			CurrentVersion: "3.0.0", ArtifactURL: "https://a.example/3", SHA256: "3"}, input.Preconditions{}); err != nil {
			t.Fatal(err)
		}
		_, err := l.registry.Put(admission.Unlimited(t.Context()), audit.Origin{}, l.id, moved, input.Preconditions{})
		expect.Must(t, err == nil, "the change is refused for a ring: %v", err)
		l.put = nil
		if a := l.bell(t, l.box.Channel); a.ETag != quiet.ETag || !strings.Contains(l.log.String(), "boxes were not called") {
			t.Errorf("the bell says %+v, before %+v; the log is %s", a, quiet, l.log.String())
		}
		heartbeat := l.listen(t, "1.0.0", told.ETag)
		if m := heartbeat.Manifest; heartbeat.NotModified || m.Channel != moved.Channel || m.Version != "3.0.0" || m.Bell.URL == told.Manifest.Bell.URL {
			t.Errorf("at its heartbeat the box is told %+v", m)
		}
	})
}

func TestRegistry_WithoutABell_WritesNoRing(t *testing.T) {
	polled(t, func(t *testing.T, p *place) {
		p.registry.Ringing(bell.Open(p.db, setting.NewValues(bell.Settings...), slog.Default()))
		p.box.OrganizationID = "initech"
		p.register(t)
		for call := range p.calls {
			expect.That(t, !strings.HasPrefix(call, dynamo.Bells.Name()), "the call %s was made", call)
		}
	})
}
