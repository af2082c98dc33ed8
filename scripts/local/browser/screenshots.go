package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
// in a directory: light and dark, of a desk and of a phone.
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
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				for _, v := range scene.views() {
					if err := errors.Join(t.look(width, scheme), t.show(v.hash, v.text)); err != nil {
						return fmt.Errorf("%s: %w", v.name, err)
					}
					picture, err := t.shot(width, 0)
					if err != nil {
						return err
					}
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("console-%s-%d-%s.png", v.name, width, scheme)), picture, 0o600); err != nil {
						return err
					}
				}
			}
		}
		// Two for the README: what a window shows at first.
		for _, p := range []struct {
			view, scheme  string
			width, height int64
		}{{"rollout", "light", 1280, 800}, {"now", "dark", 390, 800}} {
			v := scene.views()[slices.IndexFunc(scene.views(), func(v view) bool { return v.name == p.view })]
			if err := errors.Join(t.look(p.width, p.scheme), t.show(v.hash, v.text)); err != nil {
				return err
			}
			picture, err := t.shot(p.width, p.height)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, "readme-"+p.view+".png"), picture, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}
