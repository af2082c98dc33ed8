package e2e

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A file is what a test uploads as an artifact of gateway-x.
type file string

func (f file) sum() string  { return fmt.Sprintf("%x", sha256.Sum256([]byte(f))) }
func (f file) path() string { return "/api/ota/artifacts/gateway-x/" + f.sum() }
func (f file) wish() string { return fmt.Sprintf(`{"sizeBytes":%d,"filename":"image-1.swu"}`, len(f)) }

// publish is the body of a publication of the file.
func (f file) publish(version string) string {
	return fmt.Sprintf(`{"currentVersion":%q,"sha256":%q}`, version, f.sum())
}

// send makes the upload that an answer describes, with other bytes and headers if a test gives them.
func send(t *testing.T, asked harness.Answer, body string, header ...string) int {
	t.Helper()
	upload, _ := asked.Object(t)["upload"].(map[string]any)
	address, _ := upload["url"].(string)
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPut, address, strings.NewReader(body)))(t)
	for name, value := range upload["headers"].(map[string]any) {
		r.Header.Set(name, value.(string))
	}
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Del(header[i]); header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	res := expect.Value(http.DefaultClient.Do(r))(t)
	res.Body.Close()
	return res.StatusCode
}

// keep uploads a file.
func keep(t *testing.T, c *harness.Caller, f file) {
	t.Helper()
	asked := c.Put(t, f.path(), f.wish())
	asked.Is(t, http.StatusCreated)
	expect.Equal(t, send(t, asked, string(f)), http.StatusOK, "the store answers the upload")
	c.Patch(t, f.path(), `{"state":"kept"}`).Is(t, http.StatusOK)
}

// fetch downloads from a URL as a box does.
func fetch(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	body := expect.Value(io.ReadAll(res.Body))(t)
	return res, string(body)
}

// TestArtifact_UploadedAndPublishedByItsDigest_ReachesABox: the service fills in what the publication does not say.
func TestArtifact_UploadedAndPublishedByItsDigest_ReachesABox(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	const image = file("the bytes of 1.0.0")
	owner.Get(t, image.path()).Refused(t, problem.NotFound)
	owner.Patch(t, image.path(), `{"state":"kept"}`).Refused(t, problem.NotFound)
	owner.Put(t, channel, image.publish("1.0.0")).Refused(t, problem.ArtifactNotKept)
	first := owner.Put(t, image.path(), image.wish())
	first.Is(t, http.StatusCreated)
	owner.Patch(t, image.path(), `{"state":"kept"}`).Refused(t, problem.ArtifactNotKept)
	owner.Put(t, channel, image.publish("1.0.0")).Refused(t, problem.ArtifactNotKept)
	again := owner.Put(t, image.path(), image.wish())
	again.Is(t, http.StatusCreated)
	expect.Equal(t, send(t, again, string(image)), http.StatusOK, "the upload")
	expect.Equal(t, send(t, first, string(image)), http.StatusPreconditionFailed, "a second upload")
	owner.Patch(t, image.path(), `{"state":"kept"}`).Has(t, `{"state":"kept","filename":"image-1.swu"}`)
	owner.Put(t, image.path(), image.wish()).Is(t, http.StatusOK)
	owner.Put(t, image.path(), image.described()).Is(t, http.StatusOK)
	owner.Put(t, image.path(), strings.Replace(image.wish(), "}", `,"sha1":"`+strings.Repeat("1", 40)+`"}`, 1)).Refused(t, problem.Conflict)
	owner.Put(t, image.path(), strings.Replace(image.wish(), ":", ":1", 1)).Refused(t, problem.Conflict)

	owner.Put(t, channel, image.publish("1.0.0")).Is(t, http.StatusCreated)
	owner.Get(t, channel).Has(t, fmt.Sprintf(`{"sizeBytes":%d,"sha1":"%x","md5":"%x","downloadWithoutToken":true}`, len(image), sha1.Sum([]byte(image)), md5.Sum([]byte(image))))
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	told := w.Box(t, "box-1").Get(t, "/api/edges/box-1/update/manifest").Object(t)
	res, body := fetch(t, told["artifactUrl"].(string), "Authorization", "Bearer a token of the box")
	expect.Equal(t, []any{res.StatusCode, body}, []any{http.StatusOK, string(image)}, "the download")
	expect.Equal(t, res.Header.Get("Cache-Control"), "public, max-age=31536000, immutable", "caches keep it")
	res, body = fetch(t, told["artifactUrl"].(string), "Range", "bytes=4-8")
	expect.Equal(t, []any{res.StatusCode, body}, []any{http.StatusPartialContent, "bytes"}, "a range")
	res, body = fetch(t, told["artifactUrl"].(string), "Range", "bytes=0-1,4-8")
	expect.Equal(t, []any{res.StatusCode, body}, []any{http.StatusOK, string(image)}, "several ranges are all bytes")
	owner.Get(t, image.path()+"?uses=true").Has(t, `{"uses":["channel stable has version 1.0.0"]}`)
	owner.Get(t, "/api/ota/artifacts?edgeType=gateway-x").Has(t, `{"limit":50}`)
	owner.Do(t, http.MethodDelete, image.path(), "").Refused(t, problem.ArtifactInUse)
	expect.Equal(t, strings.Join(eventNames(w, t, "artifact", "gateway-x/"+image.sum()), " "), "ArtifactAsked ArtifactKept", "the events")
}

// TestArtifact_UploadThatIsNotWhatWasSaid_IsRefusedByTheStore: nothing is kept.
func TestArtifact_UploadThatIsNotWhatWasSaid_IsRefusedByTheStore(t *testing.T) {
	t.Parallel()
	_, owner := begin(t)
	const image = file("the bytes of 1.0.0")
	asked := owner.Put(t, image.path(), image.wish())
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"other bytes":        {"the bytes of 1.0.1", nil, http.StatusBadRequest},
		"another length":     {string(image) + "!", nil, http.StatusForbidden},
		"no digest":          {string(image), []string{"x-amz-checksum-sha256", ""}, http.StatusForbidden},
		"another digest":     {string(image), []string{"x-amz-checksum-sha256", "fYZelZskZpGMmGOvypQtD7idfJrAyZuvw3SVBN7Zdzw="}, http.StatusForbidden},
		"over what is there": {string(image), []string{"if-none-match", ""}, http.StatusForbidden},
		"with a token, too":  {string(image), []string{"Authorization", owner.Bearer}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, send(t, asked, c.body, c.header...), c.status, "the store answers")
			owner.Patch(t, image.path(), `{"state":"kept"}`).Refused(t, problem.ArtifactNotKept)
		})
	}
}

// TestArtifact_CallerWithoutTheRight_GetsNothingSigned: a program may upload for the edge types that it publishes.
func TestArtifact_CallerWithoutTheRight_GetsNothingSigned(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	const image = file("the bytes of 1.0.0")
	program := w.As(t, harness.Program, "", auth.Program)
	keep(t, program, image)
	program.Get(t, image.path()).Has(t, `{"state":"kept"}`)
	program.Get(t, image.path()+"?uses=true").Refused(t, problem.Forbidden) // which names boxes
	program.Do(t, http.MethodDelete, image.path(), "").Refused(t, problem.Forbidden)
	program.Get(t, "/api/ota/artifacts").Refused(t, problem.Forbidden)
	other := strings.Replace(image.path(), "gateway-x", "sensor-y", 1)
	before := w.State(t)
	program.Put(t, other, image.wish()).Refused(t, problem.Forbidden)
	program.Patch(t, other, `{"state":"kept"}`).Refused(t, problem.Forbidden)
	program.Get(t, other).Refused(t, problem.Forbidden)
	w.As(t, "vera", "wavegate", auth.PlatformViewer).Put(t, image.path(), image.wish()).Refused(t, problem.Forbidden)
	expect.Equal(t, w.State(t), before, "nothing is written")
	owner.Get(t, image.path()).Is(t, http.StatusOK)
}
