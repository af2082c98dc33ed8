package proof

import (
	"context"
	"maps"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/lab/upgrade"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
)

// TestUpgrade_OfAFilledDeployment_ChangesNoAnswer fills a deployment with the functions of an old commit, and compares
// every read, and what each of 200 boxes is told, with the answers of the working tree. The working tree goes on with
// everything. After the rollback, the old functions must give its answers, and go on.
func TestUpgrade_OfAFilledDeployment_ChangesNoAnswer(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	dir := oldFunctions(t)
	w := harness.New(t, func(s *service.Options) {
		s.Environment = func(string) []string {
			return []string{"LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000", "GUARD_INTERVAL_SECONDS=1"}
		}
		s.Beside = &service.Beside{Functions: dir}
	})
	d := &upgrade.Deployment{
		Target: w.Target, Has: round{old: dir}.oldHas,
		Tick: func(ctx context.Context) error { return w.RunTask(ctx, operations.Tick) },
	}
	w.Answer(service.Second)
	expect.OK(t, d.Fill())
	filled := settled(t, d)
	for _, both := range []string{"ten", "fifty", "resumed", "halted"} {
		if told := filled.Told(); told[both+" 1.0.0"] == 0 || told[both+" 1.1.0"] == 0 {
			t.Errorf("the boxes are told %v: not both versions on %s", told, both)
		}
	}
	w.Answer(service.First)
	same(t, d, filled)
	goOn(t, d)
	upgraded := settled(t, d)
	expect.That(t, !maps.Equal(filled.Told(), upgraded.Told()), "no box is told anything else: going on moved nothing")
	w.Answer(service.Second)
	same(t, d, upgraded)
	goOn(t, d)
	t.Logf("%d reads and %d polls were compared after the upgrade and after the rollback; the boxes were told %v, then %v, and at last %v",
		len(upgraded.Reads), len(upgraded.Polls), filled.Told(), upgraded.Told(), settled(t, d).Told())
}

// settled looks after everything has come to rest.
func settled(t *testing.T, d *upgrade.Deployment) upgrade.View {
	t.Helper()
	expect.OK(t, d.Settle(t.Context()))
	v := expect.Value(d.Look())(t)
	return v
}

// same fails the test if anything is answered otherwise than before.
func same(t *testing.T, d *upgrade.Deployment, before upgrade.View) {
	t.Helper()
	v := expect.Value(d.Look())(t)
	differ := before.Compare(v)
	for _, one := range differ[:min(len(differ), 20)] {
		t.Error(one)
	}
	n := len(differ)
	expect.That(t, n <= 20, "and %d more", n-20)
}

func goOn(t *testing.T, d *upgrade.Deployment) {
	t.Helper()
	c := expect.Value(d.GoOn(t.Context()))(t)
	for _, wrong := range c.Wrong {
		t.Error(wrong)
	}
	expect.That(t, c.Rollouts != 0 && c.Methods != 0 && c.Verified != 0, "going on did too little: %+v", c)
	t.Logf("%d active rollouts and %d methods went on; %d methods were verified", c.Rollouts, c.Methods, c.Verified)
}
