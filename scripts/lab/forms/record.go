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

// record fills the world and appends items with new forms. The first recording has all items of the filled world.
func (w *world) record(ctx context.Context, functions string) error {
	known, err := golden.Items()
	if err != nil {
		return err
	}
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
	if len(known) > 0 {
		return appendTo(found)
	}
	at := now()
	if found, err = w.whole(ctx, at, found); err != nil {
		return err
	}
	if err := w.recordAnswers(ctx, functions, found, at); err != nil {
		return err
	}
	return appendTo(found)
}

// recordAnswers asks another world with the same functions and items, as later tests will do.
func (w *world) recordAnswers(ctx context.Context, functions string, items []golden.Item, at time.Time) error {
	again, err := open(ctx, functions)
	if err != nil {
		return err
	}
	defer again.Stop()
	again.values = w.values
	answers, err := again.answer(ctx, items, at)
	if err != nil {
		return err
	}
	root, err := service.Root()
	if err != nil {
		return err
	}
	return answers.write(filepath.Join(root, golden.Folder, answersFile))
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// whole returns all items of the world, and those found earlier with forms that they lack.
func (w *world) whole(ctx context.Context, at time.Time, found []golden.Item) (all []golden.Item, err error) {
	cover := golden.Cover{}
	err = golden.Scan(ctx, w.DB, func(id dynamo.TableID, p golden.Plain) error {
		all = append(all, golden.Item{Table: id, Recorded: at, Plain: p})
		_, err := cover.Add(id, p)
		return err
	})
	for _, i := range found {
		added, fault := cover.Add(i.Table, i.Plain)
		if fault != nil {
			err = fault
		}
		if added {
			all = append(all, i)
		}
	}
	return all, err
}

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
