package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"wavegate/shared/operations/table"
)

// testTasks invokes every task like its schedule, on the data that the API tests left in the store.
func (e *environment) testTasks(ctx context.Context) error {
	for _, task := range table.Tasks {
		out, err := e.run(ctx, task.ID)
		if errors.Is(err, errSilent) {
			// SAM sometimes does not pass the event to the new container. The schedule would also call again.
			fmt.Printf("sam: %s on SAM gave no sign of life; once more\n", task.ID)
			out, err = e.run(ctx, task.ID)
		}
		if err != nil {
			return fmt.Errorf("%s on SAM: %w\n%s", task.ID, err, out)
		}
		fmt.Printf("ok  	on SAM: %s, invoked\n", task.ID)
	}
	return nil
}

// run invokes a task once and returns SAM's output.
func (e *environment) run(ctx context.Context, task string) ([]byte, error) {
	var out bytes.Buffer
	c := e.invoke(ctx, &out, task, filepath.Join("events", task+".json"))
	c.Stderr = &out
	err := c.Run()
	if err == nil {
		err = ended(out.Bytes())
	}
	return out.Bytes(), err
}

// errSilent means that SAM shows neither an answer nor a line of the function's log.
var errSilent = errors.New("it did not start")

// ended looks for the end of a run in SAM's output: the function's log and its answer, which is null. SAM itself
// succeeds even if the function fails.
func ended(output []byte) error {
	answered, logged := false, false
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		var said struct{ ErrorMessage string }
		if json.Unmarshal(line, &said) == nil && said.ErrorMessage != "" {
			return fmt.Errorf("it failed: %s", said.ErrorMessage)
		}
		logged = logged || bytes.HasPrefix(line, []byte("{"))
		answered = answered || bytes.Equal(line, []byte("null"))
	}
	switch {
	case !answered && !logged:
		return errSilent
	case !answered:
		return errors.New("it gave no answer")
	}
	return nil
}
