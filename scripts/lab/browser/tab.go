package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A tab is one of the browser that shows the operator's page.
type tab struct {
	ctx context.Context
	url string // the service's
	// failed is the first fault. What follows it is not tried.
	failed *error
}

func newTab(ctx context.Context, url string) tab { return tab{ctx, url, new(error)} }

// fail notes the first fault.
func (t tab) fail(err error) error {
	if *t.failed == nil {
		*t.failed = err
	}
	return *t.failed
}

// js runs a script, which may wait for something, and returns its value.
func js[T any](t tab, script string, values ...any) (T, error) {
	var none T
	if *t.failed != nil {
		return none, *t.failed
	}
	b, err := json.Marshal(append([]any{}, values...))
	if err != nil {
		return none, err
	}
	v, err := chromedp.Run(t.ctx, chromedp.Evaluate[T](fmt.Sprintf("(async (...given) => { %s })(...%s)", script, b), chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("%.80s: %w", script, err)
	}
	return v, err
}

// do runs a script for what it does.
func (t tab) do(script string, values ...any) error {
	_, err := js[bool](t, script+"; return true", values...)
	return t.fail(err)
}

// waitFor bounds how long something may take to show.
const waitFor = 30 * time.Second

// until waits until an expression holds. The page's policy forbids what chromedp would wait by.
func (t tab) until(expression string, values ...any) error {
	for deadline := time.Now().Add(waitFor); ; time.Sleep(20 * time.Millisecond) {
		ok, err := js[bool](t, "return Boolean("+expression+")", values...)
		if ok || *t.failed != nil {
			return *t.failed
		}
		if time.Now().After(deadline) {
			text, _ := js[string](t, "return document.body.innerText.slice(0, 1500)")
			return t.fail(fmt.Errorf("it never came to %s %v; the page says:\n%s: %w", expression, values, text, errors.Join(err, errors.New("too late"))))
		}
	}
}

// says waits until the page shows a text.
func (t tab) says(text string) error {
	return t.until(`document.body.innerText.replaceAll('\u00a0', ' ').includes(given[0])`, text)
}

// press clicks the button or link of a name, as a person does.
func (t tab) press(name string) error {
	const find = `[...document.querySelectorAll('dialog[open] button, dialog[open] a')].concat(document.querySelector('dialog[open]') ? [] : [...document.querySelectorAll('button, a')])
		.find((e) => e.textContent.trim().replaceAll('\u00a0', ' ').replace(/^[▸▾] /, '') === given[0] && e.checkVisibility())`
	if err := t.until(find, name); err != nil {
		return err
	}
	return t.do("("+find+").click()", name)
}

// show leads to a view and waits until it shows what it is for.
func (t tab) show(hash, text string) error {
	if err := t.do("location.hash = given[0]", hash); err != nil {
		return err
	}
	if err := t.says(text); err != nil {
		return err
	}
	return t.until("!document.querySelector('.loading')")
}

// look sets the width of the window and the colours that the person prefers.
func (t tab) look(width int64, scheme string) error {
	if err := chromedp.Do(t.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	return err
}

// shot takes a picture of the page: of its first pixels or, with a height of 0, of all.
func (t tab) shot(width, height int64) ([]byte, error) {
	if height == 0 {
		h, err := js[int64](t, "return document.documentElement.scrollHeight")
		if err != nil {
			return nil, err
		}
		height = h
	}
	if err := chromedp.Do(t.ctx, chromedp.EmulateViewport(width, height)); err != nil {
		return nil, err
	}
	return chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
}

// signIn signs in by the service's own login, as a person does in its form.
func (t tab) signIn(user string, roles ...string) error {
	if err := chromedp.Do(t.ctx, chromedp.Navigate(t.url+"/console")); err != nil {
		return err
	}
	return errors.Join(t.press("Sign in"), t.login(user, roles...))
}

// reload loads the page again, which forgets who was signed in, and so leads to the login.
func (t tab) reload(user string) error {
	if err := chromedp.Do(t.ctx, chromedp.Reload()); err != nil {
		return err
	}
	return t.login(user)
}

// login fills in the form of the login. Without roles they are those that it proposes.
func (t tab) login(user string, roles ...string) error {
	if err := t.until("document.querySelector('input[name=user]')"); err != nil {
		return err
	}
	if err := t.do(`document.querySelector('input[name=user]').value = given[0];
		if (given[1]) for (const box of document.querySelectorAll('input[name=role]')) box.checked = given[1].includes(box.value);
		document.querySelector('form').requestSubmit()`, user, roles); err != nil {
		return err
	}
	return t.until("document.querySelector('.light')")
}
