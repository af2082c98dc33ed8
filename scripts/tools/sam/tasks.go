package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"wavegate/shared/operations"
)

// testTasks invokes every task as its schedule does, on what the tests of the API left in the store.
func (e *environment) testTasks(ctx context.Context) error {
	for _, task := range operations.Tasks {
		var out bytes.Buffer
		c := e.invoke(ctx, &out, task.ID, filepath.Join("events", task.ID+".json"))
		c.Stderr = &out
		err := c.Run()
		if err == nil {
			err = ended(out.Bytes())
		}
		if err != nil {
			return fmt.Errorf("%s on SAM: %w\n%s", task.ID, err, out.Bytes())
		}
		fmt.Printf("ok  	on SAM: %s, invoked\n", task.ID)
	}
	return nil
}

// ended looks for the end of a run in what SAM shows of it: the function's log and its answer, which is null.
// SAM itself ends well also where the function does not.
func ended(output []byte) error {
	answered := false
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		var failed struct{ ErrorMessage string }
		if json.Unmarshal(line, &failed) == nil && failed.ErrorMessage != "" {
			return fmt.Errorf("it failed: %s", failed.ErrorMessage)
		}
		answered = answered || bytes.Equal(line, []byte("null"))
	}
	if !answered {
		return fmt.Errorf("it gave no answer")
	}
	return nil
}
