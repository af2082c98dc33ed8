package command_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/testing/expect"
)

// atStore counts the files that the command sends to the store, and lets a test answer instead of the store.
func (d *desk) atStore(answers func(r *http.Request) *http.Response) *int {
	sent := 0
	d.answers = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPut || !r.URL.Query().Has("X-Amz-Signature") {
			return nil, nil
		}
		sent++
		if r.Header.Get("Authorization") != "" {
			d.Error("the store is told a token")
		}
		if answers == nil {
			return nil, nil
		}
		return answers(r), nil
	}
	return &sent
}

// TestPublish_AFile_IsSentToTheStoreOnce_AndReachesABox: the service fills in what DDI clients need.
func TestPublish_AFile_IsSentToTheStoreOnce_AndReachesABox(t *testing.T) {
	d := newDesk(t)
	image := d.file("gateway 1.2.0 (final).swu", strings.Repeat("abc", 100_000))
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Repeat("abc", 100_000))))
	sent := d.atStore(nil)
	d.does("publish", "gateway-x/canary", "1.2.0", "--file", image).is(run.Misused).warns("publish 1.2.0 on a new channel", "--confirm gateway-x/canary")
	expect.Equal(t, *sent, 0, "before it is confirmed, files are sent:")
	d.does("publish", "gateway-x/canary", "1.2.0", "--file", image, "--confirm", "gateway-x/canary").is(run.Done).
		says("gateway-1.2.0-final-.swu is uploaded, 300.0 kB", "1.2.0 is published on gateway-x/canary")
	d.does("publish", "gateway-x/stable", "1.2.0", "--file", image, "--confirm", "gateway-x/stable").is(run.Done).says("the service has gateway-1.2.0-final-.swu already")
	d.does("publish", "gateway-x/beta", "1.2.0", "--sha256", sum, "--confirm", "gateway-x/beta").is(run.Done)
	expect.Equal(t, *sent, 1, "files were sent:")
	var channel struct {
		ArtifactURL, SHA1, MD5 string
		SizeBytes              int64
	}
	d.does("status", "gateway-x/beta", "--json").is(run.Done)
	d.Owner(t).Get(t, "/api/ota/release-channels/gateway-x/beta").Into(t, &channel)
	expect.That(t, channel.SizeBytes == 300_000 && len(channel.SHA1) == 40 && len(channel.MD5) == 32,
		"the channel has %+v", channel)
	res := expect.Value(http.Get(channel.ArtifactURL))(t)
	defer res.Body.Close()
	body := expect.Value(io.ReadAll(res.Body))(t)
	if !bytes.Equal(body, bytes.Repeat([]byte("abc"), 100_000)) || !strings.HasSuffix(channel.ArtifactURL, "/gateway-1.2.0-final-.swu") {
		t.Errorf("%s has %d bytes", channel.ArtifactURL, len(body))
	}
	d.does("publish", "gateway-x/beta", "1.3.0", "--url", "https://artifacts.example/1.3.0", "--sha256", digest("d"), "--confirm", "gateway-x/beta",
		"--document", "sbom="+sum, "--document", "notes=https://artifacts.example/notes").is(run.Done).
		warns("No box with a DDI client is told release 1.3.0")
	d.Owner(t).Get(t, "/api/ota/release-channels/gateway-x/beta").Has(t, `{"documents":[{"kind":"sbom","sha256":"`+sum+`"},{"kind":"notes","url":"https://artifacts.example/notes"}]}`)
	d.does("publish", "gateway-x/beta", "1.4.0", "--url", "https://artifacts.example/1.4.0", "--sha256", digest("e"), "--confirm", "gateway-x/beta",
		"--document", "poem=abc").is(run.Refused).warns("documents")
	d.does("artifacts", "list").is(run.Done).says("gateway-x", "300.0 kB", "kept", sum)
	d.does("artifacts", "show", "gateway-x", sum).is(run.Done).says("channel canary has version 1.2.0")
	d.does("artifacts", "delete", "gateway-x", sum, "--yes").is(run.Refused).warns("ARTIFACT_IN_USE")
}

// TestPublish_AFileThatCannotBeKept_SaysSo: before anybody is asked, if it is the file.
func TestPublish_AFileThatCannotBeKept_SaysSo(t *testing.T) {
	d := newDesk(t, settings("ARTIFACT_URL=", "ARTIFACT_STORE_URL="))
	publish := func(file string) result {
		return d.does("publish", "gateway-x/canary", "1.2.0", "--file", file, "--confirm", "gateway-x/canary")
	}
	publish(d.file("empty", "")).is(run.Misused).warns("the file's size must")
	publish(d.file("image.swu", "abc")).is(run.Unknown).warns("No store of artifacts is set up here")
}

// TestUpload_ForCI_PrintsTheDigest_AndSendsWhatTheStoreDoesNotHave.
func TestUpload_ForCI_PrintsTheDigest_AndSendsWhatTheStoreDoesNotHave(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	d := newDesk(t)
	image := d.file("image.swu", "abc")
	sent := d.atStore(nil)
	var made artifact.Artifact
	d.does("upload", image, "--edge-type", "gateway-x", "--json").is(run.Done).into(&made)
	expect.Equal(t, []any{made.SHA256, made.State, made.SizeBytes}, []any{abc, artifact.Kept, int64(3)}, "it prints")
	d.does("upload", image, "--edge-type", "gateway-x").is(run.Done).says("has image.swu already", abc)
	d.does("artifacts", "delete", "gateway-x", abc, "--yes").is(run.Done).says("image.swu is deleted; its bytes go in seven days")
	d.does("upload", image, "--edge-type", "gateway-x").is(run.Done).says("has image.swu already")
	expect.Equal(t, *sent, 1, "files were sent:")
	d.does("upload", d.file("empty", ""), "--edge-type", "gateway-x").is(run.Misused).warns("the file's size must")
	d.does("upload", d.dir+"/missing", "--edge-type", "gateway-x").is(run.Refused).warns("no such file")
	d.does("upload", image, "--edge-type", "gateway x").is(run.Misused).warns("must")
}

// TestUpload_AStoreThatFails_IsTriedAgain, with a new URL each time, and not for bytes that it refuses.
func TestUpload_AStoreThatFails_IsTriedAgain(t *testing.T) {
	refuses := func(status int, code string) func(*http.Request) *http.Response {
		return func(r *http.Request) *http.Response { return answer(r, status, "<Error><Code>"+code+"</Code></Error>") }
	}
	for name, c := range map[string]struct {
		answers func(*http.Request) *http.Response
		sent    int
		warns   string
	}{
		"it refuses the bytes": {refuses(http.StatusBadRequest, "BadDigest"), 1, "(400 BadDigest): the file has changed since it was read"},
		"the URL has expired":  {refuses(http.StatusForbidden, "AccessDenied"), 3, "the store answers 403 AccessDenied"},
		"it is down":           {refuses(http.StatusServiceUnavailable, "SlowDown"), 3, "the store answers 503 SlowDown"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			sent := d.atStore(c.answers)
			d.does("upload", d.file("image.swu", "abc"), "--edge-type", "gateway-x").is(run.Refused).warns(c.warns)
			expect.Equal(t, *sent, c.sent, "files were sent:")
		})
	}
	t.Run("somebody else has sent it", func(t *testing.T) {
		d := newDesk(t)
		d.atStore(func(r *http.Request) *http.Response {
			res := expect.Value(http.DefaultTransport.RoundTrip(r))(t)
			_ = res.Body.Close()
			return answer(r, http.StatusPreconditionFailed, "")
		})
		d.does("upload", d.file("image.swu", "abc"), "--edge-type", "gateway-x").is(run.Done).says("image.swu is uploaded, 3 bytes")
	})
}

// TestPublish_AURL_IsAskedOnce_AndWarnedOf: the publication goes on, because boxes may see what this machine does not.
func TestPublish_AURL_IsAskedOnce_AndWarnedOf(t *testing.T) {
	const at, abc = "https://files.example/image.swu", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for name, c := range map[string]struct {
		status int
		body   string
		header []string
		flags  []string
		code   int
		warns  string
	}{
		"it is there":                 {http.StatusPartialContent, "a", []string{"Content-Range", "bytes 0-0/3"}, nil, run.Done, ""},
		"refused":                     {http.StatusForbidden, "no", nil, nil, run.Done, at + " answers 403 from here"},
		"another length":              {http.StatusPartialContent, "a", []string{"Content-Range", "bytes 0-0/12"}, nil, run.Done, "is 12 bytes long, not 3"},
		"without ranges":              {http.StatusOK, "an error page", nil, nil, run.Done, "is 13 bytes long, not 3"},
		"verified":                    {http.StatusOK, "abc", nil, []string{"--verify"}, run.Done, ""},
		"verified, with other bytes":  {http.StatusOK, "abd", nil, []string{"--verify"}, run.Refused, "has the SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9, not " + abc},
		"verified, and it is refused": {http.StatusNotFound, "", nil, []string{"--verify"}, run.Refused, "answers 404"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			asked := 0
			d.answers = func(r *http.Request) (*http.Response, error) {
				if r.URL.Host != "files.example" {
					return nil, nil
				}
				asked++
				expect.Equal(t, r.Header.Get("Authorization"), "", "it is told the token")
				res := answer(r, c.status, c.body, c.header...)
				res.ContentLength = int64(len(c.body))
				return res, nil
			}
			args := append([]string{"publish", "gateway-x/canary", "1.2.0", "--url", at, "--file", d.file("image.swu", "abc"), "--confirm", "gateway-x/canary"}, c.flags...)
			r := d.does(args...).is(c.code).warns(c.warns)
			expect.Equal(t, r.err == "", c.warns == "", "it says %q:", r.err)
			expect.Equal(t, asked, 1, "the URL is asked:")
		})
	}
	d := newDesk(t)
	d.does("publish", "gateway-x/canary", "1.2.0", "--url", "http://127.0.0.1:1/x", "--sha256", abc, "--confirm", "gateway-x/canary").is(run.Refused)
}

// TestUpload_OnATerminal_ShowsHowMuchIsSent, and leaves nothing of it.
func TestUpload_OnATerminal_ShowsHowMuchIsSent(t *testing.T) {
	d := newDesk(t)
	r := d.onTerminal(80, "upload", d.file("image.swu", strings.Repeat("abc", 1_000_000)), "--edge-type", "gateway-x").is(run.Done)
	expect.That(t, strings.Contains(r.err, "\r\x1b[2Kimage.swu [") && strings.Contains(r.err, " of 3.0 MB"), "it prints %q", r.err)
	expect.That(t, strings.HasSuffix(r.err, "\r\x1b[2K"), "it leaves %q", r.err)
	r.says("image.swu is uploaded, 3.0 MB\n").not("\x1b")
}
