package ddi_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/boxauth"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// verified is the caller of a token that the authorizer verifies.
func (f *fleet) verified(token boxtoken.Token) auth.Principal {
	f.Helper()
	p, known, err := boxauth.NewTokens(f.db, issuer).Verify(f.ctx(), token)
	if err != nil || !known {
		f.Fatal(known, err)
	}
	return boxtoken.CallerFor(p, f.box)
}

func (f *fleet) setToken() boxtoken.Token {
	f.Helper()
	_, token := boxtoken.New(boxtoken.Box, f.box)
	if err := edge.NewRegistry(f.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).SetToken(f.ctx(), audit.Origin{}, f.box, token.SHA256, input.Preconditions{}); err != nil {
		f.Fatal(err)
	}
	return token
}

func (f *fleet) setGatewayToken() boxtoken.Token {
	f.Helper()
	_, token := boxtoken.New(boxtoken.Gateway, "acme")
	if err := boxauth.NewGateways(f.db).SetToken(f.ctx(), audit.Origin{}, auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}, "acme", token.SHA256, input.Preconditions{}); err != nil {
		f.Fatal(err)
	}
	return token
}

func (f *fleet) polls(caller auth.Principal) error {
	c := f.call()
	c.Caller = caller
	_, err := f.boxes.Poll(f.ctx(), c)
	return err
}

// TestTokens_Ended_AreGoodForNoCall: both end immediately.
func TestTokens_Ended_AreGoodForNoCall(t *testing.T) {
	each(t, func(f *fleet) {
		registry := edge.NewRegistry(f.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
		first := f.verified(f.setToken())
		if err := f.polls(first); err != nil {
			f.Fatal(err)
		}
		token := f.setToken()
		second := f.verified(token)
		for _, p := range []auth.Principal{first, second} {
			if err := f.polls(p); err != nil {
				f.Fatalf("one of two live tokens: %v", err)
			}
		}
		if err := registry.EndTokens(f.ctx(), audit.Origin{}, f.box, input.Preconditions{}); err != nil {
			f.Fatal(err)
		}
		for _, p := range []auth.Principal{first, second} {
			if err := f.polls(p); !problem.Has(err, problem.Unauthenticated) {
				f.Errorf("a token that was ended: %v", err)
			}
		}
		if _, known, err := boxauth.NewTokens(f.db, issuer).Verify(f.ctx(), token); err != nil || known {
			f.Errorf("it is still known: %v, %v", known, err)
		}
		if err := registry.EndTokens(f.ctx(), audit.Origin{}, f.box, input.Preconditions{}); !problem.Has(err, problem.NotFound) {
			f.Errorf("ended twice: %v", err)
		}
	})
}

// TestTokens_UsedDaily_AreNotedOnce: the first poll with a token writes, and those of the same day do not.
func TestTokens_UsedDaily_AreNotedOnce(t *testing.T) {
	each(t, func(f *fleet) {
		f.poll()
		f.poll()
		p := f.verified(f.setToken())
		for i, want := range []int{1, 0, 0} {
			f.api.writes = 0
			if err := f.polls(p); err != nil || f.api.writes != want {
				f.Errorf("poll %d: %d writes, %v", i, f.api.writes, err)
			}
		}
	})
}

// TestGateway_BoxWithATokenOfItsOwn_IsNotSpokenFor as long as it has one. The audit trail has an event once an hour.
func TestGateway_BoxWithATokenOfItsOwn_IsNotSpokenFor(t *testing.T) {
	each(t, func(f *fleet) {
		gateway := f.verified(f.setGatewayToken())
		if err := f.polls(gateway); err != nil {
			f.Fatal(err)
		}
		f.setToken()
		before := f.refusals()
		for range 3 {
			c := f.call()
			c.Caller = gateway
			for name, err := range map[string]error{
				"poll": f.polls(gateway), "report": f.boxes.State(f.ctx(), c, ddi.Statement{Running: "9"}), "cancel": f.boxes.Cancel(f.ctx(), c, 1),
			} {
				if !problem.Has(err, problem.Unauthenticated) {
					f.Errorf("%s: %v", name, err)
				}
			}
		}
		if told := f.refusals() - before; told > 1 {
			f.Errorf("the trail has %d events about it", told)
		}
		if err := edge.NewRegistry(f.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).EndTokens(f.ctx(), audit.Origin{}, f.box, input.Preconditions{}); err != nil {
			f.Fatal(err)
		}
		if err := f.polls(gateway); err != nil {
			f.Errorf("without a token of its own: %v", err)
		}
	})
}

func (f *fleet) refusals() (n int) {
	f.Helper()
	page, err := audit.NewLog(f.db).List(f.ctx(), audit.Platform, audit.Filter{}, "", 100)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range page.Items {
		if e.EventName == "GatewayRefused" {
			n++
		}
	}
	return n
}

// TestGateway_TokenThatWasJustReplaced_IsGoodAtOnce, even in a container that has cached the old gateway.
func TestGateway_TokenThatWasJustReplaced_IsGoodAtOnce(t *testing.T) {
	each(t, func(f *fleet) {
		for i := range 3 {
			if err := f.polls(f.verified(f.setGatewayToken())); err != nil {
				f.Errorf("token %d: %v", i, err)
			}
		}
	})
}

// TestCalls_OfAGateway_CountForTheBoxesThatItSpeaksForAlone: a made-up id is never counted.
func TestCalls_OfAGateway_CountForTheBoxesThatItSpeaksForAlone(t *testing.T) {
	each(t, func(f *fleet) {
		gateway := f.verified(f.setGatewayToken())
		var counted []string
		call := func(id string) error {
			gateway.UserID = id
			c := ddi.ClientCall{Tenant: "acme", ControllerID: id, Caller: gateway, Counts: func(_ context.Context, box auth.Principal) (string, error) {
				counted = append(counted, box.Counted())
				return box.Counted(), nil
			}}
			_, err := f.boxes.Poll(f.ctx(), c)
			return err
		}
		for i := range 20 {
			if err := call(fmt.Sprintf("made-up-%d", i)); !problem.Has(err, problem.NotFound) {
				f.Fatal(err)
			}
		}
		if err := call(f.box); err != nil || len(counted) != 1 || counted[0] != auth.User(issuer, f.box) {
			f.Errorf("counted %v, %v", counted, err)
		}
	})
}

// TestTokens_SetAndUsedAtOnce_NoneIsLost: the box can keep using its token, whoever comes first.
func TestTokens_SetAndUsedAtOnce_NoneIsLost(t *testing.T) {
	each(t, func(f *fleet) {
		used := f.setToken()
		caller := f.verified(used)
		_, a := boxtoken.New(boxtoken.Box, f.box)
		_, b := boxtoken.New(boxtoken.Box, f.box)
		registry := edge.NewRegistry(f.db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
		var group sync.WaitGroup
		set := make([]error, 2)
		var polled error
		group.Go(func() { polled = f.polls(caller) })
		for i, token := range []boxtoken.Token{a, b} {
			group.Go(func() {
				set[i] = registry.SetToken(f.ctx(), audit.Origin{}, f.box, token.SHA256, input.Preconditions{})
			})
		}
		group.Wait()
		accepted := 0
		for i, token := range []boxtoken.Token{a, b} {
			_, known, err := boxauth.NewTokens(f.db, issuer).Verify(f.ctx(), token)
			if err != nil || set[i] != nil && known {
				f.Errorf("token %d: %v, known %t, %v", i, set[i], known, err)
			}
			if known {
				accepted++
			}
		}
		if accepted != 1 {
			f.Errorf("%d of two tokens that were never used are valid; they were set with %v", accepted, set)
		}
		row, err := report.NewStore(f.db, 1).Get(f.ctx(), f.box)
		if err != nil || polled == nil && row.Tokens.LastUsedAt != nil && !row.Tokens.Accepts(used.SHA256, f.db.Now()) {
			f.Errorf("the token that was used is void: %+v, %v", row.Tokens, err)
		}
	})
}
