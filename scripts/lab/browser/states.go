package main

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rollout leads to the rollout that fails.
func (o *operator) rollout() error {
	return o.show("#/rollout/"+path.Base(o.scene.failing), "Which boxes")
}

// tabTo presses the tab key until the focus is on what is named.
func (o *operator) tabTo(name string) error {
	for range 60 {
		if err := chromedp.Do(o.ctx, chromedp.KeyEvent(kb.Tab)); err != nil {
			return err
		}
		at, err := js[[]string](o.tab, `const e = document.activeElement; return [e.textContent.trim().replaceAll('\u00a0', ' '), getComputedStyle(e).outlineStyle]`)
		if err != nil {
			return err
		}
		if at[0] == name {
			if at[1] == "none" {
				return fmt.Errorf("nobody sees that %s has the focus", name)
			}
			return nil
		}
	}
	return fmt.Errorf("the tab key does not lead to %s", name)
}

// keyboard does with keys alone what a person does: it goes to a view, opens a question, leaves it, and is back
// where it was.
func (o *operator) keyboard() error {
	press := func(keys string) error { return chromedp.Do(o.ctx, chromedp.KeyEvent(keys)) }
	focus := func(text string) error {
		return o.until("document.activeElement.textContent.trim().replaceAll('\\u00a0', ' ') === given[0]", text)
	}
	return errors.Join(
		o.do("document.activeElement.blur(); location.hash = '#/now'"), o.says("Other channels"),
		press("4"), o.until("location.hash === '#/log'"),
		press("1"), o.until("location.hash === '#/now'"), o.says("Other channels"),
		o.tabTo("Halt gateway-x/stable"), press(kb.Enter), o.says("Halt 1.1.0 on gateway-x/stable?"), focus("Halt now"),
		press(kb.Escape), o.until("!document.querySelector('dialog')"), focus("Halt gateway-x/stable"),
		o.rollout(), press("H"), o.says("Halt 1.1.0 on gateway-x/stable?"), press(kb.Escape), o.until("!document.querySelector('dialog')"),
		press("/"), o.until("document.activeElement.id === 'search'"), press(o.scene.box), press(kb.Enter), o.says("Checked in this browser"),
	)
}

// calls counts what the page asks for by itself: conditional calls, and at most so many a minute.
func (o *operator) calls() error {
	if err := o.rollout(); err != nil {
		return err
	}
	const seconds = 6
	if err := o.do(`window.asked = []; const real = window.fetch; window.fetch = async (url, init) => { const a = await real(url, init); window.asked.push([String(url), a.status, init?.headers?.['If-None-Match'] ?? '']); return a; }`); err != nil {
		return err
	}
	time.Sleep(seconds * time.Second)
	if err := o.until("window.asked.some(([url, status, tag]) => /rollouts\\/[^/]+$/.test(url) && status === 304 && tag)"); err != nil {
		return err
	}
	n, err := js[int](o.tab, "return window.asked.length")
	if err == nil && n > 12 {
		err = fmt.Errorf("%d calls in some seconds", n)
	}
	return err
}

// answers has the page's calls answered with a status. That the computer is online again has the page look at once.
func (o *operator) answers(status int) error {
	return o.do(`window.kept ??= window.fetch; window.fetch = (url, init) => String(url).includes('/api/') ? Promise.resolve(new Response(JSON.stringify({title: 'The service is being changed', status: given[0]}), {status: given[0], headers: {'Content-Type': 'application/problem+json'}})) : window.kept(url, init);
		window.dispatchEvent(new Event('online'))`, status)
}

func (o *operator) again() error {
	return errors.Join(o.do("window.fetch = window.kept; window.dispatchEvent(new Event('online'))"), o.says("Ready to halt"), o.until("!document.querySelector('.trouble')"))
}

// limit bounds the calls of who is signed in; a negative number ends that.
func (o *operator) limit(n int) error {
	const mine = "/api/rate-limits/users/olga"
	if n < 0 {
		_, err := o.w.as("otto", http.MethodDelete, mine, nil)
		return err
	}
	_, err := o.w.as("otto", http.MethodPut, mine, map[string]any{"limit": n})
	return err
}

// states shows what the page does when the service does not answer as it should: what was read stays, dated,
// and the light says that a halt would not go through before anybody needs one.
func (o *operator) states() error {
	offline := func(off bool) error {
		_, err := chromedp.Call(o.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
		return err
	}
	cut := func(off bool) error {
		_, err := chromedp.Call(o.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{URLPattern: "", Latency: 0, DownloadThroughput: -1, UploadThroughput: -1, Offline: off}}})
		return err
	}
	return errors.Join(
		o.rollout(),
		o.answers(http.StatusServiceUnavailable), o.says("Not up to date. The service is being changed"), o.says("Not ready to halt"), o.says("Stages"), o.well(), o.again(),
		offline(true), o.says("Your computer is offline."), o.says("Not ready to halt"), o.says("Stages"), o.well(), offline(false), o.says("Ready to halt"),
		cut(true), o.do("window.dispatchEvent(new Event('online'))"), o.says("The service cannot be reached."), o.says("Not ready to halt"), cut(false), o.do("window.dispatchEvent(new Event('online'))"), o.says("Ready to halt"),
		o.answers(http.StatusForbidden), o.says("Your role may not read all of this."), o.again(),
		// One call is told that the token has run out. The token is renewed, and nobody notices.
		o.do(`let once = true, renewed = 0; window.fetch = (url, init) => {
			if (String(url).endsWith('/token')) window.renewed = ++renewed;
			if (String(url).includes('/api/') && once) { once = false; return Promise.resolve(new Response(null, {status: 401})); }
			return window.kept(url, init);
		}; window.dispatchEvent(new Event('online'))`), o.until("window.renewed === 1"), o.again(),
		// Nothing answers: the page stands, and says that it waits.
		o.do("window.fetch = () => new Promise(() => {}); location.hash = '#/box/cell-0002'"), o.until("document.querySelector('.loading')"), o.well(), o.do("window.fetch = window.kept; location.hash = '#/rules'"),
		// The session is over for good.
		o.answers(http.StatusUnauthorized), o.says("Your session has ended. Sign in again."), o.well(),
		o.signIn("vera", "fleet_viewer"), o.rollout(), o.says("You can look. A platform owner can act."), o.says("Not ready to halt"),
		o.until("![...document.querySelectorAll('button')].some((b) => /^(Halt|Promote|Approve)/.test(b.textContent))"), o.well(),
		o.press("Sign out"), o.press("Sign in"), o.login("olga"),
	)
}

// promotion asks for more the more it reaches: against the guard, the channel's name. A change by somebody else
// in between is told.
func (o *operator) promotion() error {
	return errors.Join(
		o.rollout(), o.press("Promote to 50 %…"), o.says("This goes against the guard."), o.says("Stage 50 is not approved"), o.well(),
		o.press("Promote to 50 %"), o.says("Type gateway-x/stable to confirm."),
		o.do("document.getElementById('typed').value = 'gateway-x/stable'"), o.press("Promote to 50 %"), o.says("second person"), o.until("document.querySelector('.wrong').textContent"),
		o.press("Cancel"), o.until("!document.querySelector('dialog')"),
		o.press("Approve 50 %…"), o.press("Approve 50 %"), o.says("50 % of 1.1.0 on gateway-x/stable is approved."), o.says("Approved 50 %"),
	)
}

// halt halts by two clicks, although the calls of the minute are used up, and a box's next poll proves it.
func (o *operator) halt() error {
	if err := errors.Join(o.look(1280, "light"), o.reload("olga"), o.rollout(), o.limit(0), o.says("You have used up your calls of this minute."), o.says("Stages"), o.well()); err != nil {
		return err
	}
	if told, err := o.w.poll(o.scene.waiting, o.scene.previous); err != nil || told != o.scene.target {
		return fmt.Errorf("before the halt %s was told %s: %w", o.scene.waiting, told, err)
	}
	began := time.Now()
	if err := errors.Join(o.press("Halt"), o.press("Halt now"), o.says("1.1.0 is halted at 10 %.")); err != nil {
		return err
	}
	o.halted = time.Since(began)
	told, err := o.w.poll(o.scene.waiting, o.scene.previous)
	if err != nil || told != o.scene.previous {
		return fmt.Errorf("after the halt %s was told %s: %w", o.scene.waiting, told, err)
	}
	if status, err := o.status(); err != nil || status != "halted" {
		return fmt.Errorf("the rollout is %s: %w", status, err)
	}
	return errors.Join(o.limit(-1), o.says("Start again…"), o.says("Send back to 1.0.0…"), o.well())
}

// hostile has every text of every answer be hostile, but for times. The page shows it as text, and goes on.
func (o *operator) hostile() error {
	err := o.do(`const bad = '<img src=x onerror="window.hurt = true"><script>window.hurt = true</scr' + 'ipt>\u202e"\'&amp;{{7*7}}' + 'x'.repeat(200);
		const real = window.fetch; window.hurt = false;
		const worse = (v, k) => Array.isArray(v) ? v.map((x) => worse(x)) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, worse(x, k)]))
			: typeof v === 'string' && !/^\d{4}-\d\d-\d\dT/.test(v) && !['status', 'verdict', 'next'].includes(k) ? bad : v;
		window.fetch = async (url, init) => {
			const answer = await real(url, init);
			if (!String(url).includes('/api/') || !answer.ok) return answer;
			const text = await answer.text();
			return new Response(text && JSON.stringify(worse(JSON.parse(text))), {status: answer.status === 204 ? 200 : answer.status, headers: {'Content-Type': 'application/json'}});
		};`)
	if err != nil {
		return err
	}
	// Other addresses than before, so that nothing is shown that was read before.
	for _, v := range []view{
		{"now", "#/now", "<img src=x"}, {"rollout", o.others(), "<img src=x"}, {"box", "#/box/cell-0003", "<img src=x"},
		{"log", "#/log/release-channel/" + "gateway-x%2Fcanary", "<img src=x"}, {"rules", "#/rules", "Register boxes"},
	} {
		if err := errors.Join(o.look(1280, "light"), o.show(v.hash, v.text)); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		if err := errors.Join(o.do("for (const b of document.querySelectorAll('main .more > button')) b.click()"), o.look(320, "dark"), o.well()); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		hurt, err := js[bool](o.tab, "return window.hurt || Boolean(document.querySelector('img, script:not([src])'))")
		if err != nil || hurt {
			return fmt.Errorf("%s: hostile text became a part of the page: %w", v.name, err)
		}
	}
	return nil
}

// textStaysText checks that the browser keeps a script from turning text into markup. It complains about that.
func (o *operator) textStaysText() error {
	refused, err := js[bool](o.tab, "try { document.getElementById('page').innerHTML = '<b>x</b>'; return false } catch { return true }")
	if err == nil && !refused {
		err = errors.New("a script may turn text into markup")
	}
	return err
}

// others is the address of the other rollout.
func (o *operator) others() string { return "#/rollout/" + path.Base(o.scene.good) }
