package e2e

import (
	"net/http"
	"testing"

	"wavegate/shared/platform/problem"
)

func TestMethods_Preconditions(t *testing.T) {
	b := newBench(t)
	content := b.version(1) + "/content"
	b.author.Put(t, content, smallContent, "If-None-Match", "*").Is(t, http.StatusCreated)
	b.author.Put(t, content, another("Two"), "If-None-Match", "*").Refused(t, problem.PreconditionFailed)
	tag := b.author.Get(t, content).Header.Get("ETag")
	b.author.Put(t, content, another("Two"), "If-Match", tag).Is(t, http.StatusNoContent)
	b.author.Put(t, content, another("Three"), "If-Match", tag).Refused(t, problem.PreconditionFailed)
	revision := b.author.Get(t, b.version(1)).Header.Get("ETag")
	b.author.Patch(t, b.version(1), `{"status":"in_review","reason":"r"}`, "If-Match", revision).Is(t, http.StatusOK)
	b.author.Patch(t, b.version(1), `{"status":"draft","reason":"r"}`, "If-Match", revision).Refused(t, problem.PreconditionFailed)
	for body, pointer := range map[string]string{
		`{"status":"trial","reason":"r"}`:                                              "/machines",
		`{"status":"draft","reason":"r","orders":"stop"}`:                              "/orders",
		`{"status":"withdrawn","reason":"r","machines":["press-1"]}`:                   "/machines",
		`{"status":"released","reason":"r","firstArticle":{"number":"1"}}`:             "/firstArticle/reference",
		`{"status":"released","reason":"r","effectiveFrom":"tomorrow"}`:                "/effectiveFrom",
		`{"status":"in_review"}`:                                                       "/reason",
		`{"status":"active","reason":"r"}`:                                             "/status",
		`{"status":"released","reason":"r","contentSha256":"` + digest("a")[:9] + `"}`: "/contentSha256",
	} {
		d := b.author.Patch(t, b.version(1), body).Refused(t, problem.ValidationFailed)
		if len(d.Errors) == 0 || d.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v, want %s", body, d.Errors, pointer)
		}
	}
}
