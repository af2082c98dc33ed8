package method_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// TestWithdrawal_BesideWritersThatGoOn_IsNeverRefused: eight writers change the method and the factory's machines until the
// withdrawal is made. INSIST_ROUNDS is the number of rounds, 300 if LONG is set.
func TestWithdrawal_BesideWritersThatGoOn_IsNeverRefused(t *testing.T) {
	rounds := expect.Long(3, 300)
	if n, err := strconv.Atoi(os.Getenv("INSIST_ROUNDS")); err == nil {
		rounds = n
	}
	var db *dynamo.DB
	var writes atomic.Int64
	var longest time.Duration
	for round := range rounds {
		if round%50 == 0 { // the embedded store becomes slow as it grows
			db = dynamo.Open(dynamotest.Embedded(t), time.Now)
		}
		slug := plant(t, db)
		methods, ref := staged(t, db, slug)
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for writer := range 8 {
			group.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					if err := write(admission.Unlimited(ctx), db, methods, ref, writer, i); err == nil {
						writes.Add(1)
					}
				}
			})
		}
		began := time.Now()
		r := ref
		r.Version = 2
		_, err := methods.Move(admission.Unlimited(context.Background()), person("anna"), origin, r,
			method.Move{Status: method.Withdrawn, Reason: "danger", Orders: method.Stop}, input.Preconditions{})
		longest = max(longest, time.Since(began))
		cancel()
		group.Wait()
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d rounds, %d writes beside, the longest withdrawal took %s", rounds, writes.Load(), longest)
}

// write makes a change beside a withdrawal: of a machine, or of the method by a move. Nobody pauses.
func write(ctx context.Context, db *dynamo.DB, methods *method.Store, ref method.Ref, writer, i int) error {
	if writer%2 == 0 {
		_, err := machine.NewStore(db).Put(ctx, engineer, origin, ref.FactoryID, fmt.Sprint("press-", 1+writer),
			machine.Registration{Name: "Press", Classes: []string{"press", fmt.Sprint("class-", i%2)}}, input.Preconditions{})
		return err
	}
	status := []method.Status{method.Draft, method.InReview}[i%2]
	ref.Version = 3
	_, err := methods.Move(ctx, engineer, origin, ref, method.Move{Status: status, Reason: "again"}, input.Preconditions{})
	return err
}

// TestApproval_AfterManyWithdrawals_WaitsUntilTheyAreConfirmed: otherwise the method could never be approved again.
func TestApproval_AfterManyWithdrawals_WaitsUntilTheyAreConfirmed(t *testing.T) {
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	methods, ref := staged(t, db, plant(t, db))
	ctx := admission.Unlimited(t.Context())
	at := func(n int64) method.Ref { r := ref; r.Version = n; return r }
	move := func(n int64, m method.Move) error {
		m.Reason = "r"
		v := expect.Value(methods.Version(ctx, engineer, at(n)))(t)
		if m.Status == method.Released {
			m.ContentSHA256 = v.ContentSHA256
		}
		_, err := methods.Move(ctx, person("anna"), origin, at(n), m, input.Preconditions{})
		return err
	}
	last := int64(24)
	for n := int64(1); n <= last; n++ {
		if n > 2 {
			expect.OK(t, move(n, method.Move{Status: method.Released}))
		}
		expect.OK(t, move(n, method.Move{Status: method.Withdrawn}))
		if n > 2 {
			reviewed(t, methods, at(n+1))
		}
	}
	refused := move(last+1, method.Move{Status: method.Released})
	expect.That(t, problem.Has(refused, problem.EffectivityFull), "while none is confirmed: %v", refused)
	for n := int64(1); n <= last; n++ {
		expect.Value(methods.Confirm(ctx, engineer, origin, at(n), method.Confirmations{Machines: []string{"press-1"}, Reason: "seen"}))(t)
	}
	expect.OK(t, move(last+1, method.Move{Status: method.Released}))
	m := expect.Value(methods.Get(ctx, engineer, ref.FactoryID, ref.MethodID))(t)
	expect.Equal(t, len(m.Withdrawals), 8, "withdrawals listed")
}
