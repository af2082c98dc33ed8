package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/chromedp"

	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
)

// seen is what a page's script can tell of its calls; an error is the browser's refusal.
type seen struct {
	Unknown, Wrong, Nobody int    // the gateway's own answers
	Allow                  string // of Wrong
	Read, Changed, Stale   int    // the functions' answers
	Tag, Limit             string
	Error                  string
}

// own is what any page may see of the gateway's own answers, where several origins may call.
var own = seen{Unknown: 404, Wrong: 405, Nobody: 401, Allow: "GET, OPTIONS, PUT"}

// script asks for what only the gateway answers: an unknown path, an unknown method, no token. Then it reads
// a factory, names it again under the tag it read, and tries that with the old tag again. Its values are
// put in as JSON.
const script = `(async (url, bearer, owner) => {
	const seen = {unknown: 0, wrong: 0, nobody: 0, allow: '', read: 0, changed: 0, stale: 0, tag: '', limit: '', error: ''};
	try {
		const path = url + '/api/factories/munich-1';
		seen.unknown = (await fetch(url + '/api/no-such')).status;
		const wrong = await fetch(path, {method: 'POST'});
		seen.wrong = wrong.status; seen.allow = wrong.headers.get('Allow') ?? '';
		seen.nobody = (await fetch(path)).status;
		const read = await fetch(path, {headers: {Authorization: bearer}});
		seen.read = read.status; seen.tag = read.headers.get('ETag') ?? ''; seen.limit = read.headers.get('RateLimit') ?? '';
		const put = {method: 'PUT', headers: {Authorization: owner, 'Content-Type': 'application/json', 'If-Match': seen.tag},
			body: JSON.stringify({organizationId: 'acme', name: 'At ' + Math.random()})};
		seen.changed = (await fetch(path, put)).status;
		seen.stale = (await fetch(path, {...put, body: put.body.replace('At', 'Not at')})).status;
	} catch (e) { seen.error = String(e); }
	return seen;
})`

// callFrom has a page of the origin call the service, and returns what should have been otherwise.
func callFrom(ctx context.Context, s *service.Service, origin string, allowed bool) error {
	reader, err := s.Bearer("anna", "acme", auth.OrganizationAdmin)
	if err != nil {
		return err
	}
	owner, err := s.Bearer("olga", "acme", auth.PlatformOwner)
	if err != nil {
		return err
	}
	values, err := json.Marshal([]string{s.URL, reader, owner})
	if err != nil {
		return err
	}
	var got seen
	err = inTab(ctx, func(ctx context.Context) error {
		if err := chromedp.Do(ctx, chromedp.Navigate(origin)); err != nil {
			return err
		}
		got, err = chromedp.Run(ctx, chromedp.Evaluate[seen](fmt.Sprintf("(%s)(...%s)", script, values), chromedp.EvalAwaitPromise))
		return err
	})
	if err != nil {
		return fmt.Errorf("calls from a page: %w", err)
	}
	want := own
	if allowed {
		want.Read, want.Changed, want.Stale = 200, 204, 412
		want.Tag, want.Limit = got.Tag, got.Limit // they differ from run to run
		if got.Tag == "" || got.Limit == "" {
			return fmt.Errorf("a page that may call cannot read the headers it needs: %+v", got)
		}
	} else if want.Error = got.Error; got.Error == "" {
		return fmt.Errorf("a page that may not call was not kept from it: %+v", got)
	}
	if got != want {
		return fmt.Errorf("a page that may call (%v) saw %+v, want %+v", allowed, got, want)
	}
	return nil
}
