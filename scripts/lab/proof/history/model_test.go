package history

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

type span struct {
	from, to int64
	in       Input
	out      Output
}

func judge(spans ...span) error {
	h := New()
	for i, s := range spans {
		h.calls = append(h.calls, porcupine.Operation{ClientId: i, Input: s.in, Call: s.from, Output: s.out, Return: s.to})
	}
	return h.Check()
}

// opening publishes two versions and starts a rollout of the second, one after the other.
func opening(more ...span) []span {
	return append([]span{
		{0, 1, Input{Action: Publish, Version: "2", Digest: "b"}, Output{Created: true}},
		{2, 3, Input{Action: Publish, Version: "1", Digest: "a"}, Output{}},
		{4, 5, Input{Action: Start, Version: "2"}, Output{ID: "r"}},
	}, more...)
}

func raise(percent int, ifMatch int64) Input {
	return Input{Action: Move, Rollout: "r", Percent: percent, IfMatch: ifMatch}
}

func read(percent int, status string, revision int64) Output {
	return Output{Rollout: Rollout{Target: "2", Digest: "b", Previous: "1", Percent: percent, Status: status, Revision: revision}}
}

func refused(code problem.Code) Output { return Output{Code: code} }

var (
	readR   = Input{Action: ReadRollout, Rollout: "r"}
	halt    = Input{Action: Move, Rollout: "r", Status: halted}
	goBack  = Input{Action: Move, Rollout: "r", Status: halted, Return: true}
	finish  = Input{Action: Move, Rollout: "r", Status: completed}
	resume  = Input{Action: Move, Rollout: "r", Status: active}
	again   = Input{Action: Publish, Version: "1", Digest: "a"}
	restart = Input{Action: Start, Version: "2"}
	row     = Input{Action: ReadRow}
)

func TestCheck_LinearizableHistory_Passes(t *testing.T) {
	for name, spans := range map[string][]span{
		"nothing":                                   {},
		"one raise for two callers":                 opening(span{6, 9, raise(10, 0), Output{}}, span{6, 9, raise(10, 0), Output{}}, span{10, 11, readR, read(10, active, 2)}),
		"the second is told that it came late":      opening(span{6, 9, raise(10, 1), Output{}}, span{6, 9, raise(10, 1), refused(problem.PreconditionFailed)}),
		"a read during a raise shows either":        opening(span{6, 9, raise(10, 0), Output{}}, span{7, 8, readR, read(1, active, 1)}),
		"a lost raise was made":                     opening(span{6, 1 << 60, raise(10, 0), Output{Lost: true}}, span{10, 11, readR, read(10, active, 2)}),
		"a lost raise was not made":                 opening(span{6, 1 << 60, raise(10, 0), Output{Lost: true}}, span{10, 11, readR, read(1, active, 1)}),
		"a lost raise arrives later":                opening(span{6, 1 << 60, raise(10, 0), Output{Lost: true}}, span{10, 11, readR, read(1, active, 1)}, span{12, 13, readR, read(10, active, 2)}),
		"a rollout ends and another starts":         opening(span{6, 7, halt, Output{}}, span{8, 9, restart, Output{ID: "s"}}),
		"a start with a lost answer blocks another": {{0, 1, Input{Action: Publish, Version: "2", Digest: "b"}, Output{Created: true}}, {2, 1 << 60, restart, Output{Lost: true, ID: "lost-1"}}, {3, 4, restart, refused(problem.RolloutActive)}},
		"given up, and nothing made":                opening(span{6, 7, raise(10, 0), refused(problem.Conflict)}, span{8, 9, readR, read(1, active, 1)}),
		"completed early, the channel stays":        opening(span{6, 7, finish, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 2}, Carried: Carried{"r", "2", 1, false, 2}, Keeps: "2", Tag: Tag{2, "r", 2}}}),
		"returned, no box keeps the target":         opening(span{6, 7, goBack, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 3}, Carried: Carried{"r", "2", 1, false, 2}, Tag: Tag{3, "r", 2}}}, span{10, 11, resume, refused(problem.InvalidStateTransition)}),
		"completed at 100, the target is it":        opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, raise(50, 0), Output{}}, span{10, 11, Input{Action: Move, Rollout: "r", Percent: 100, Status: completed}, Output{}}, span{12, 13, row, Output{Channel: Channel{"2", "b", 3}, Carried: Carried{"r", "2", 100, false, 4}, Tag: Tag{3, "r", 4}}}),
		"published again, ended ones forgotten":     opening(span{6, 7, halt, Output{}}, span{8, 9, Input{Action: Publish, Version: "1", Digest: "a"}, Output{}}, span{10, 11, row, Output{Channel: Channel{"1", "a", 3}, Tag: Tag{Revision: 3}}}),
		"published during it, which ends it": opening(span{6, 7, again, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 3}, Tag: Tag{Revision: 3}}},
			span{10, 11, readR, Output{Rollout: Rollout{Target: "2", Digest: "b", Previous: "1", Percent: 1, Status: halted, Ended: "publication", Revision: 2}}}),
		"halted and resumed":                    opening(span{6, 7, halt, Output{}}, span{8, 9, resume, Output{}}, span{10, 11, readR, read(1, active, 3)}),
		"resumed after a publication":           opening(span{6, 7, again, Output{}}, span{8, 9, resume, refused(problem.InvalidStateTransition)}),
		"published on the tag that was read":    opening(span{6, 7, row, Output{Channel: Channel{"1", "a", 2}, Carried: Carried{"r", "2", 1, true, 1}, Keeps: "2", Tag: Tag{2, "r", 1}}}, span{8, 9, Input{Action: Publish, Version: "1", Digest: "a", IfTag: Tag{2, "r", 1}}, Output{}}),
		"the rollout changed after it was read": opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, Input{Action: Publish, Version: "1", Digest: "a", IfTag: Tag{2, "r", 1}}, refused(problem.PreconditionFailed)}),
	} {
		err := judge(spans...)
		expect.That(t, err == nil, "%s: %v", name, err)
	}
}

func TestCheck_OtherHistory_Fails(t *testing.T) {
	for name, spans := range map[string][]span{
		"two raises from one revision":           opening(span{6, 9, raise(10, 1), Output{}}, span{6, 9, raise(10, 1), Output{}}),
		"a read before the answer of a raise":    opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, readR, read(1, active, 1)}),
		"a read that shows an older state":       opening(span{6, 20, raise(10, 0), Output{}}, span{7, 8, readR, read(10, active, 2)}, span{9, 10, readR, read(1, active, 1)}),
		"two starts on one channel":              {{0, 1, Input{Action: Publish, Version: "2", Digest: "b"}, Output{Created: true}}, {2, 5, restart, Output{ID: "r"}}, {2, 5, restart, Output{ID: "s"}}},
		"a raise of a halted rollout":            opening(span{6, 7, halt, Output{}}, span{8, 9, raise(10, 0), Output{}}),
		"a refusal without a reason":             opening(span{6, 7, raise(10, 0), refused(problem.InvalidStateTransition)}),
		"a precondition that held":               opening(span{6, 7, raise(10, 1), refused(problem.PreconditionFailed)}),
		"a change with a refusal":                opening(span{6, 7, raise(10, 7), refused(problem.PreconditionFailed)}, span{8, 9, readR, read(10, active, 2)}),
		"a raise without a new revision":         opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, readR, read(10, active, 1)}),
		"two digests of one version":             opening(span{6, 7, Input{Action: Publish, Version: "1", Digest: "b"}, Output{}}),
		"a channel that was made twice":          {{0, 3, Input{Action: Publish, Version: "1", Digest: "a"}, Output{Created: true}}, {0, 3, Input{Action: Publish, Version: "2", Digest: "a"}, Output{Created: true}}},
		"a return after which boxes keep it":     opening(span{6, 7, goBack, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 3}, Carried: Carried{"r", "2", 1, false, 2}, Keeps: "2", Tag: Tag{3, "r", 2}}}),
		"a resumption after a return":            opening(span{6, 7, goBack, Output{}}, span{8, 9, resume, Output{}}),
		"a row older than its rollout in a read": opening(span{6, 7, halt, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 2}, Carried: Carried{"r", "2", 1, true, 1}, Keeps: "2", Tag: Tag{2, "r", 1}}}),
		"a completion that forgets the target":   opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, raise(50, 0), Output{}}, span{10, 11, Input{Action: Move, Rollout: "r", Percent: 100, Status: completed}, Output{}}, span{12, 13, row, Output{Channel: Channel{"1", "a", 2}, Carried: Carried{"r", "2", 100, false, 4}, Keeps: "2", Tag: Tag{2, "r", 4}}}),
		"an old release restored":                opening(span{6, 7, Input{Action: Publish, Version: "3", Digest: "c"}, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 2}, Carried: Carried{"r", "2", 1, true, 1}, Keeps: "2", Tag: Tag{2, "r", 1}}}),
		"a publication that leaves it active":    opening(span{6, 7, again, Output{}}, span{8, 9, readR, read(1, active, 1)}),
		"a publication that does not reach all":  opening(span{6, 7, again, Output{}}, span{8, 9, row, Output{Channel: Channel{"1", "a", 3}, Carried: Carried{"r", "2", 1, true, 1}, Keeps: "2", Tag: Tag{3, "r", 1}}}),
		"resumed after a publication":            opening(span{6, 7, again, Output{}}, span{8, 9, resume, Output{}}),
		"resumed after a completion":             opening(span{6, 7, finish, Output{}}, span{8, 9, resume, Output{}}),
		"published on an old tag":                opening(span{6, 7, raise(10, 0), Output{}}, span{8, 9, Input{Action: Publish, Version: "1", Digest: "a", IfTag: Tag{2, "r", 1}}, Output{}}),
	} {
		expect.That(t, judge(spans...) != nil, "%s: taken", name)
	}
}
