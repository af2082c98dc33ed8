package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"wavegate/scripts/local/service"
)

// operate looks at the operator's page as an operator does, with a small fleet in the middle of a failing
// rollout, and returns all that is wrong with it. other is the URL of another origin.
func operate(ctx context.Context, s *service.Service, other string) (summary string, err error) {
	if err := vendored(); err != nil {
		return "", err
	}
	w := &world{Service: s, ctx: ctx}
	scene, err := w.play(240)
	if err != nil {
		return "", err
	}
	o := &operator{w: w, scene: scene}
	// Each part begins where the one before it left the page.
	parts := []struct {
		name string
		do   func() error
	}{
		{"sign-in", o.signsIn}, {"first view", o.firstView}, {"views", o.everyView}, {"keyboard", o.keyboard}, {"calls", o.calls},
		{"states", o.states}, {"promotion", o.promotion}, {"hostile text", o.hostile}, {"halt", o.halt},
	}
	err = inTab(ctx, func(ctx context.Context) error {
		o.tab = newTab(ctx, s.URL)
		found, err := complaints(ctx)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := errors.Join(part.do(), errors.Join(found.faults()...)); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
		return o.textStaysText()
	})
	if err != nil {
		return "", fmt.Errorf("the operator's page: %w", err)
	}
	return o.summary(), framed(ctx, s.URL, other)
}

// vendored checks that the modules of others are those of the packages that scripts/package.json names.
func vendored() error {
	var faults []error
	for mine, theirs := range map[string]string{"preact.mjs": "preact/dist/preact.mjs", "preact.LICENSE": "preact/LICENSE", "htm.mjs": "htm/dist/htm.mjs"} {
		have, err := os.ReadFile(filepath.Join("functions", "console", "page", "vendor", mine))
		faults = append(faults, err)
		want, err := os.ReadFile(filepath.Join("scripts", "node_modules", theirs))
		faults = append(faults, err)
		if !bytes.Equal(have, want) {
			faults = append(faults, fmt.Errorf("functions/console/page/vendor/%s is not %s; copy it", mine, theirs))
		}
	}
	return errors.Join(faults...)
}

// An operator looks at one page.
type operator struct {
	tab
	w     *world
	scene scene

	first, halted time.Duration // the first view, and a halt by two clicks
	looked        int           // how often axe looked
}

func (o *operator) summary() string {
	return fmt.Sprintf("the operator's page: first view in %d ms, axe finds nothing in %d looks, halted in two clicks and %d ms", o.first.Milliseconds(), o.looked, o.halted.Milliseconds())
}

// signsIn signs in by the code flow. No token is kept where another page or a later one could read it, and an
// answer that nobody asked for signs nobody in.
func (o *operator) signsIn() error {
	if err := o.look(1280, "light"); err != nil {
		return err
	}
	if err := chromedp.Do(o.ctx, chromedp.Navigate(o.url+"/console?code=forged&state=forged")); err != nil {
		return err
	}
	if err := o.says("That was not the answer to this sign-in."); err != nil {
		return err
	}
	if err := o.signIn("olga"); err != nil {
		return err
	}
	kept, err := js[string](o.tab, "return JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])")
	if err == nil && (strings.Contains(kept, "eyJ") || strings.Contains(kept, "code") || strings.Contains(kept, "verifier")) {
		err = fmt.Errorf("something of the sign-in is kept: %s", kept)
	}
	return err
}

// firstView opens a view for the first time, with the page's files in the browser's cache and somebody signed in to the login.
func (o *operator) firstView() error {
	if err := errors.Join(o.do("location.hash = '#/now'"), o.reload("olga")); err != nil {
		return err
	}
	if err := o.until("document.querySelector('.row')"); err != nil {
		return err
	}
	ms, err := js[float64](o.tab, `return new Promise((done) => {
		const shown = performance.getEntriesByType('paint').at(-1).startTime;
		const calls = performance.getEntriesByType('resource').filter((r) => r.name.includes('/api/')).map((r) => r.responseEnd);
		done(Math.max(shown, Math.min(...calls)));
	})`)
	o.first = time.Duration(ms) * time.Millisecond
	return err
}

// widths that views are looked at, in pixels.
var deskToPhone = []int64{1280, 768, 390, 320}

// everyView looks at each view in each width and scheme.
func (o *operator) everyView() error {
	if err := o.course(); err != nil {
		return err
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, v := range o.scene.views() {
			if err := errors.Join(o.look(1280, scheme), o.show(v.hash, v.text)); err != nil {
				return err
			}
			for _, width := range deskToPhone {
				if err := o.look(width, scheme); err != nil {
					return err
				}
				if err := o.well(); err != nil {
					return fmt.Errorf("%s at %d px, %s: %w", v.name, width, scheme, err)
				}
			}
		}
	}
	return o.look(1280, "light")
}

// course lets the page have a longer course of the rollout than the seconds that this takes.
func (o *operator) course() error {
	return o.do(`const real = window.fetch; window.fetch = async (url, init) => {
		const answer = await real(url, init);
		if (!String(url).includes('/progress/history')) return answer;
		const page = await answer.json(), last = page.items[0];
		page.items = Array.from({length: 12}, (_, i) => ({...last, at: new Date(Date.now() - i * 60000).toISOString(), staged_percent: i < 8 ? 10 : 1, installed: 24 - 2 * i}));
		return new Response(JSON.stringify(page), {headers: {'Content-Type': 'application/json'}});
	}`)
}

// well finds what is wrong with what the page shows: what axe finds, text without contrast, and what is wider
// than the window.
func (o *operator) well() error {
	var faults []error
	axe, err := os.ReadFile(filepath.Join("scripts", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return err
	}
	there, err := js[bool](o.tab, "return 'axe' in window")
	if err == nil && !there {
		_, err = chromedp.Run(o.ctx, chromedp.Evaluate[bool](string(axe)+"; true"))
	}
	faults = append(faults, err)
	o.looked++
	found, err := js[[]string](o.tab, `const r = await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']});
		return r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | '))`)
	faults = append(faults, err)
	pale, err := js[[]string](o.tab, contrast)
	faults = append(faults, err)
	wide, err := js[[]string](o.tab, `const w = document.documentElement.clientWidth;
		const wide = [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > w + 1 && !e.closest('.wide, .unseen, .skip, svg'));
		const small = [...document.querySelectorAll('button, select, input, nav a')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24);
		return (document.documentElement.scrollWidth > w ? ['the page is ' + document.documentElement.scrollWidth + ' px wide'] : []).concat(wide.map((e) => 'too wide: ' + e.outerHTML.slice(0, 120)), small.map((e) => 'too small: ' + e.outerHTML.slice(0, 120)))`)
	faults = append(faults, err)
	for _, what := range append(append(found, pale...), wide...) {
		faults = append(faults, errors.New(what))
	}
	return errors.Join(faults...)
}

// contrast computes the contrast of each text with what is behind it, since axe leaves some undecided. WCAG wants
// 4.5 to 1.
const contrast = `const light = (c) => { const [r, g, b] = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const colour = (text) => { const m = text.match(/[\d.]+/g).map(Number); return [...m.slice(0, 3), m[3] ?? 1]; };
	const pale = [];
	for (const e of document.querySelectorAll('body *')) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('.unseen, .skip, [aria-disabled=true], noscript')) continue;
		let at = e, ground = [255, 255, 255, 0];
		while (at && ground[3] === 0) { ground = colour(getComputedStyle(at).backgroundColor); at = at.parentElement; }
		const [a, b] = [light(colour(getComputedStyle(e).color)), light(ground)].sort((x, y) => y - x);
		if ((a + 0.05) / (b + 0.05) < 4.5) pale.push('pale, ' + ((a + 0.05) / (b + 0.05)).toFixed(2) + ': ' + e.outerHTML.slice(0, 120));
	}
	return pale`

// framed checks that a page of another origin cannot show the page inside itself.
func framed(ctx context.Context, url, other string) error {
	return inTab(ctx, func(ctx context.Context) error {
		t := newTab(ctx, url)
		if err := chromedp.Do(ctx, chromedp.Navigate(other)); err != nil {
			return err
		}
		if err := t.do(`const f = document.createElement('iframe'); const loaded = new Promise((done) => f.onload = done); f.src = given[0]; document.body.append(f); await loaded`, url+"/console"); err != nil {
			return err
		}
		inside, err := frames(ctx)
		if err == nil && (len(inside) != 1 || strings.HasPrefix(inside[0], url)) {
			err = fmt.Errorf("another origin's page shows %q", inside)
		}
		return err
	})
}

// status is the rollout's.
func (o *operator) status() (string, error) {
	a, err := o.w.as("otto", http.MethodGet, o.scene.failing, nil)
	switch {
	case err != nil:
		return "", err
	case bytes.Contains(a.body, []byte(`"status":"halted"`)):
		return "halted", nil
	}
	return "active", nil
}
