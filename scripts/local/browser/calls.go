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
	Read, Changed, Stale, Unknown int
	Tag, Limit                    string
	Error                         string
}

// script reads a factory, names it anew under the tag it read, tries that with the old tag again, and
// asks for what is not there: calls with preflight requests, and answers of functions and of the
// gateway. Its values are put in as JSON.
const script = `(async (url, bearer, owner) => {
	const seen = {read: 0, changed: 0, stale: 0, unknown: 0, tag: '', limit: '', error: ''};
	try {
		const path = url + '/api/factories/munich-1';
		const read = await fetch(path, {headers: {Authorization: bearer}});
		seen.read = read.status; seen.tag = read.headers.get('ETag') ?? ''; seen.limit = read.headers.get('RateLimit') ?? '';
		const put = {method: 'PUT', headers: {Authorization: owner, 'Content-Type': 'application/json', 'If-Match': seen.tag},
			body: JSON.stringify({organizationId: 'acme', name: 'Munich One'})};
		seen.changed = (await fetch(path, put)).status;
		seen.stale = (await fetch(path, {...put, body: put.body.replace('One', 'Two')})).status;
		seen.unknown = (await fetch(url + '/api/no-such', {headers: {}})).status;
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
	switch {
	case allowed && (got.Read != 200 || got.Changed != 204 || got.Stale != 412 || got.Unknown != 404 || got.Tag == "" || got.Limit == "" || got.Error != ""):
		return fmt.Errorf("a page that may call saw %+v", got)
	case !allowed && (got.Error == "" || got.Read != 0):
		return fmt.Errorf("a page that may not call saw %+v", got)
	}
	return nil
}
