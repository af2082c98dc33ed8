package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"wavegate/scripts/local/service"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

// record fills the world and appends items with new forms.
func (w *world) record(ctx context.Context) error {
	cover, err := golden.Covered()
	if err != nil {
		return err
	}
	var found []golden.Item
	written := watch(w.Front)
	w.after = func(string) error { // items that the fill changes again or removes count, too
		at := now()
		for _, p := range written.take() {
			item, err := p.get(ctx, w.DB)
			if err != nil {
				return err
			}
			if item == nil {
				continue
			}
			added, err := cover.Add(p.table, item)
			if err != nil {
				return err
			}
			if added {
				found = append(found, golden.Item{Table: p.table, Recorded: at, Plain: item})
			}
		}
		return nil
	}
	if err := w.fillAll(); err != nil {
		return err
	}
	return appendTo(found)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// appendTo appends items to the files.
func appendTo(found []golden.Item) error {
	root, err := service.Root()
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, golden.Item.Compare)
	for _, t := range dynamo.Tables {
		file, err := os.OpenFile(filepath.Join(root, golden.Folder, golden.File(t.ID)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		for _, i := range found {
			if i.Table != t.ID {
				continue
			}
			text, err := i.Line()
			if err != nil {
				return err
			}
			if _, err := file.Write(text); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d items added\n", len(found))
	return nil
}
