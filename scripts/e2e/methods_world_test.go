package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
)

// A bench is a factory with a production method, and the people who work on it.
type bench struct {
	*testing.T
	w                *harness.World
	author, approver *harness.Caller
	path             string // of the method
}

// methodContent reads a content of the samples.
func methodContent(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "production", "content", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const smallContent = `{"form":1,"basis":{"quantity":1,"unit":"{piece}"},"steps":[{"id":"10","name":"Press","equipment":{"class":"press"},` +
	`"run":{"time":"PT1M","per":{"quantity":1,"unit":"{piece}"}},"outputs":[{"material":"PART","quantity":1,"unit":"{piece}"}]}]}`

// another is the small content with a different name of its step.
func another(name string) string { return strings.Replace(smallContent, "Press", name, 1) }

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchIn(t, harness.New(t))
}

func benchIn(t *testing.T, w *harness.World) *bench {
	t.Helper()
	b := &bench{T: t, w: w, author: w.Engineer(t, "acme"), approver: w.Admin(t, "acme")}
	factory(t, w, "munich-1", "acme")
	b.machine("press-1", "press")
	b.machine("press-2", "press")
	b.path = b.author.Post(t, methods, method).Is(t, http.StatusCreated).Header.Get("Location")
	return b
}

func (b *bench) machine(code string, classes ...string) {
	b.Helper()
	list, err := json.Marshal(append([]string{}, classes...))
	if err != nil {
		b.Fatal(err)
	}
	b.author.Put(b, "/api/factories/munich-1/machines/"+code, fmt.Sprintf(`{"name":%q,"classes":%s}`, code, list)).Is(b, http.StatusCreated)
}

func (b *bench) version(n int) string { return fmt.Sprintf("%s/versions/%d", b.path, n) }

func (b *bench) save(n int, content string) harness.Answer {
	b.Helper()
	return b.author.Put(b, b.version(n)+"/content", content)
}

// hash returns the entity tag of a version's content, without quotes.
func (b *bench) hash(n int) string {
	b.Helper()
	return strings.Trim(b.author.Get(b, b.version(n)+"/content").Is(b, http.StatusOK).Header.Get("ETag"), `"`)
}

// move asks for a status; more are further fields of the body.
func (b *bench) move(by *harness.Caller, n int, status, more string) harness.Answer {
	b.Helper()
	return by.Patch(b, b.version(n), b.body(n, status, more))
}

func (b *bench) body(n int, status, more string) string {
	b.Helper()
	if status == "trial" || status == "released" {
		more += fmt.Sprintf(`,"contentSha256":%q`, b.hash(n))
	}
	return fmt.Sprintf(`{"status":%q,"reason":"test"%s}`, status, more)
}

// release brings a new version with a content to all machines.
func (b *bench) release(n int, content string) {
	b.Helper()
	b.save(n, content).Is(b, http.StatusCreated)
	b.move(b.author, n, "in_review", "").Is(b, http.StatusOK)
	b.move(b.approver, n, "released", "").Is(b, http.StatusOK)
}

// holds returns the version that holds on a machine, at a time or now; 0 for none.
func (b *bench) holds(machine string, at time.Time) int {
	b.Helper()
	query := "?methodId=" + id(b.path)
	if !at.IsZero() {
		query += "&at=" + at.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	var poll struct {
		Items []struct {
			Version int `json:"version"`
		} `json:"items"`
	}
	b.author.Get(b, "/api/factories/munich-1/machines/"+machine+"/methods"+query).Is(b, http.StatusOK).Into(b, &poll)
	if len(poll.Items) == 0 {
		return 0
	}
	return poll.Items[0].Version
}
