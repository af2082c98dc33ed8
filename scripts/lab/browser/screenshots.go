package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"wavegate/scripts/local/service"
)

// A view is one of the page, and a text that shows that it is there.
type view struct{ name, hash, text string }

// views are those of a scene.
func (s scene) views() []view {
	id := filepath.Base(s.failing)
	return []view{
		{"now", "#/now", "Other channels"},
		{"rollout", "#/rollout/" + id, "Which boxes"},
		{"box", "#/box/" + s.box, "Checked in this browser"},
		{"log", "#/log", "promoted"},
		{"rules", "#/rules", "Register boxes"},
	}
}

// screenshots plays a fleet in the middle of a failing rollout, and keeps pictures of each view
// in a directory: light and dark, of a desk and of a phone. Two more show what a window shows at first, for the README.
func screenshots(ctx context.Context, s *service.Service, dir string, boxes int, slow bool) error {
	w := &world{s, ctx, slow}
	scene, err := w.play(boxes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return inTab(ctx, func(ctx context.Context) error {
		t := newTab(ctx, s.URL)
		if err := errors.Join(t.look(1280, "light"), t.signIn("olga")); err != nil {
			return err
		}
		for _, v := range scene.views() {
			for _, width := range []int64{1280, 390} {
				for _, scheme := range []string{"light", "dark"} {
					name := fmt.Sprintf("console-%s-%d-%s.png", v.name, width, scheme)
					if err := t.picture(v, width, 0, scheme, filepath.Join(dir, name)); err != nil {
						return err
					}
				}
			}
		}
		now, rollout := scene.views()[0], scene.views()[1]
		return errors.Join(
			t.question(rollout, "Promote to 50 %…", 1280, "light", filepath.Join(dir, "console-promote-1280-light.png")),
			t.question(rollout, "Promote to 50 %…", 390, "dark", filepath.Join(dir, "console-promote-390-dark.png")),
			t.question(rollout, "Halt", 1280, "dark", filepath.Join(dir, "console-halt-1280-dark.png")),
			t.picture(rollout, 1280, 800, "light", filepath.Join(dir, "readme-rollout.png")),
			t.picture(now, 390, 800, "dark", filepath.Join(dir, "readme-now.png")))
	})
}

// question keeps a picture of the question that a button opens.
func (t tab) question(v view, button string, width int64, scheme, file string) error {
	if err := errors.Join(t.look(width, scheme), t.show(v.hash, v.text), t.press(button), t.until("document.querySelector('dialog[open]')")); err != nil {
		return err
	}
	png, err := t.shot(width, 900)
	return errors.Join(err, os.WriteFile(file, png, 0o600), t.press("Cancel"))
}

// picture keeps a picture of a view.
func (t tab) picture(v view, width, height int64, scheme, file string) error {
	if err := errors.Join(t.look(width, scheme), t.show(v.hash, v.text)); err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	png, err := t.shot(width, height)
	if err != nil {
		return err
	}
	return os.WriteFile(file, png, 0o600)
}
