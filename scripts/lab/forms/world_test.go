package main

import (
	"context"
	"os"
	"sync"
	"testing"

	"wavegate/scripts/local/service"
	"wavegate/shared/testing/expect"
)

// functions builds those of the working tree, or names others for a look at older code.
var functions = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("FORMS_FUNCTIONS"); dir != "" {
		return dir, nil
	}
	return service.Build(context.Background(), os.Stderr)
})

// opened is a world with the functions of the working tree.
func opened(t *testing.T) *world {
	t.Helper()
	dir := expect.Value(functions())(t)
	w := expect.Value(open(t.Context(), dir))(t)
	t.Cleanup(w.Stop)
	return w
}
