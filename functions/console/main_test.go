package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

const login, store = "https://login.example.com", "https://artifacts.s3.eu-central-1.amazonaws.com"

// ask sends the sample event for a path below the stage, with the path's parameters as the gateway would set them.
func ask(t *testing.T, path string, headers map[string]string) (events.APIGatewayProxyResponse, string) {
	t.Helper()
	sample := expect.Value(os.ReadFile("../../events/console.json"))(t)
	var event events.APIGatewayProxyRequest
	expect.OK(t, json.Unmarshal(sample, &event))
	event.Path = "/prod" + path
	if parts := strings.Split(path, "/"); len(parts) == 4 {
		event.Resource = operations.ConsolePaths[1]
		event.PathParameters = map[string]string{"version": parts[2], "file": parts[3]}
	}
	delete(event.MultiValueHeaders, "Accept-Encoding")
	for name, value := range headers {
		event.MultiValueHeaders[name] = []string{value}
	}
	answer := expect.Value(serve(login, store)(context.Background(), event))(t)
	if !answer.IsBase64Encoded {
		return answer, answer.Body
	}
	body := expect.Value(base64.StdEncoding.DecodeString(answer.Body))(t)
	return answer, string(body)
}

func header(a events.APIGatewayProxyResponse, name string) string {
	return http.Header(a.MultiValueHeaders).Get(name)
}

// addresses lists what the page refers to.
func addresses(t *testing.T) []string {
	t.Helper()
	_, page := ask(t, operations.ConsolePath, nil)
	var all []string
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestPage_NamesWhatItNeedsAtFirst: everything that the page refers to is relative, so that it works below a stage. If
// a named module imports another one, the page names that one too; otherwise the browser would ask for it late. All
// other modules are imported only when they are needed.
func TestPage_NamesWhatItNeedsAtFirst(t *testing.T) {
	var first []string
	for _, address := range addresses(t) {
		answer, _ := ask(t, "/"+address, nil)
		expect.That(t, answer.StatusCode == http.StatusOK && strings.HasPrefix(address, "console/"),
			"%s: %d", address, answer.StatusCode)
		first = append(first, address[strings.LastIndex(address, "/")+1:])
	}
	files := read(store).files
	reached := slices.Clone(first)
	for i := 0; i < len(reached); i++ {
		for _, m := range regexp.MustCompile(`(?m)^import .* from '\./([^']*)'|\bimport\('\./([^']*)'\)`).FindAllStringSubmatch(string(files[reached[i]]), -1) {
			atOnce, later := m[1], m[2]
			if files[atOnce+later] == nil {
				t.Errorf("%s imports %s", reached[i], atOnce+later)
			}
			if i < len(first) && atOnce != "" && !slices.Contains(first, atOnce) {
				t.Errorf("the page does not name %s, which %s imports", atOnce, reached[i])
			}
			if i < len(first) && slices.Contains(first, later) {
				t.Errorf("the page names %s, which %s imports only when it is needed", later, reached[i])
			}
			if !slices.Contains(reached, atOnce+later) {
				reached = append(reached, atOnce+later)
			}
		}
	}
	for name := range files {
		expect.That(t, slices.Contains(reached, name), "nothing imports %s", name)
	}
}

// TestPage_TakesLittle measures everything that a browser loads for the first view, compressed as it is sent.
func TestPage_TakesLittle(t *testing.T) {
	const most = 60 << 10
	total := 0
	for _, address := range append(addresses(t), "console") {
		answer, body := ask(t, "/"+address, map[string]string{"Accept-Encoding": "gzip"})
		if size := len(body); header(answer, "Content-Encoding") != "gzip" && size > 2<<10 {
			t.Errorf("%s: %d bytes that are not compressed", address, size)
		}
		total += len(body)
	}
	t.Logf("%d bytes", total)
	expect.That(t, total <= most, "the page takes %d bytes, and may take %d", total, most)
}

// TestPolicy_LetsThePageCallItsServiceTheLoginAndTheStoreAlone also checks that no text can be turned into a script.
func TestPolicy_LetsThePageCallItsServiceTheLoginAndTheStoreAlone(t *testing.T) {
	answer, _ := ask(t, operations.ConsolePath, nil)
	got := strings.Split(header(answer, "Content-Security-Policy"), "; ")
	want := []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self' " + login + " " + store,
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"}
	expect.Equal(t, got, want, "the policy is")
	if got := policy("", ""); !strings.Contains(got, "connect-src 'self';") {
		t.Errorf("without a login it is %q", got)
	}
}

// TestRights_WithoutAStore_OfferNobodyAnUpload.
func TestRights_WithoutAStore_OfferNobodyAnUpload(t *testing.T) {
	expect.Equal(t, []bool{strings.Contains(rights(""), upload), strings.Contains(rights(store), upload)}, []bool{false, true}, "an upload is offered")
	expect.Equal(t, table.Get(upload).ID, upload, "the operation is")
}

// TestFiles_AreKeptForGood_AndThePageIsAskedAbout: a file's address changes with its bytes.
func TestFiles_AreKeptForGood_AndThePageIsAskedAbout(t *testing.T) {
	page, _ := ask(t, operations.ConsolePath, nil)
	expect.Equal(t, header(page, "Cache-Control"), "no-cache", "Cache-Control of the page is")
	again, body := ask(t, operations.ConsolePath, map[string]string{"If-None-Match": header(page, "ETag")})
	expect.That(t, again.StatusCode == http.StatusNotModified && body == "",
		"asked again: %d, %d bytes", again.StatusCode, len(body))
	for _, address := range addresses(t) {
		if file, _ := ask(t, "/"+address, nil); !strings.Contains(header(file, "Cache-Control"), "immutable") {
			t.Errorf("%s: %v", address, file.MultiValueHeaders)
		}
	}
	for _, address := range []string{"/console/another/main.mjs", "/console/" + read(store).version + "/preact.LICENSE", "/console/" + read(store).version + "/index.html"} {
		file, _ := ask(t, address, nil)
		expect.That(t, file.StatusCode == http.StatusNotFound, "%s: %d", address, file.StatusCode)
	}
}

func TestPage_WithASlashAtItsEnd_IsSentToThePage(t *testing.T) {
	answer, _ := ask(t, "/console/", nil)
	expect.That(t, answer.StatusCode == http.StatusPermanentRedirect && header(answer, "Location") == "../console",
		"got %d %v", answer.StatusCode, answer.MultiValueHeaders)
}

func TestEveryAnswer_IsOverHTTPSAndInNoFrame(t *testing.T) {
	for _, path := range []string{"/console", "/console/", "/console/x/y"} {
		answer, _ := ask(t, path, nil)
		if header(answer, "Strict-Transport-Security") == "" || header(answer, "X-Content-Type-Options") != "nosniff" || header(answer, "X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %v", path, answer.StatusCode, answer.MultiValueHeaders)
		}
	}
}

func TestCompressed_ItIsTheSame(t *testing.T) {
	for _, address := range addresses(t) {
		_, want := ask(t, "/"+address, nil)
		answer, body := ask(t, "/"+address, map[string]string{"Accept-Encoding": "gzip"})
		if header(answer, "Content-Encoding") == "gzip" {
			r := expect.Value(gzip.NewReader(bytes.NewReader([]byte(body))))(t)
			b := expect.Value(io.ReadAll(r))(t)
			body = string(b)
		}
		expect.Equal(t, body, want, "the compressed form of %s", address)
	}
}

func TestPage_HasTheStagesOfRollouts(t *testing.T) {
	if _, page := ask(t, "/console", nil); !strings.Contains(page, fmt.Sprintf("data-stages=\"%d\"", cohort.Stages)) {
		t.Errorf("the page does not have the stages %d", cohort.Stages)
	}
}

// TestPage_KnowsWhoMayDoWhat: the page offers nobody an action that the service would refuse.
func TestPage_KnowsWhoMayDoWhat(t *testing.T) {
	_, page := ask(t, "/console", nil)
	m := regexp.MustCompile(`data-may="([^"]*)"`).FindStringSubmatch(page)
	expect.Must(t, m != nil, "the page does not say who may do what")
	got := map[string]string{}
	for group := range strings.SplitSeq(m[1], ";") {
		roles, ids, _ := strings.Cut(group, "=")
		for id := range strings.FieldsSeq(ids) {
			got[id] = roles
		}
	}
	for _, op := range table.All {
		if want := strings.Trim(fmt.Sprint(op.Roles), "[]"); got[op.ID] != want {
			t.Errorf("%s: the page says %q may call it, and it is %q", op.ID, got[op.ID], want)
		}
	}
	expect.That(t, len(got) == len(table.All),
		"the page names %d operations, and there are %d", len(got), len(table.All))
}

func TestPage_HasTheDefaultPolicy(t *testing.T) {
	_, page := ask(t, "/console", nil)
	m := regexp.MustCompile(`data-policy="([^"]*)"`).FindStringSubmatch(page)
	expect.That(t, m != nil && html.UnescapeString(m[1]) == string(guard.Default().JSON()),
		"the page has the policy %q", m)
}

func TestUnknownPath_IsAProblem(t *testing.T) {
	for _, path := range []string{"/console/" + read(store).version + "/unknown.mjs", "/console/older/main.mjs"} {
		answer, body := ask(t, path, nil)
		if answer.StatusCode != http.StatusNotFound || header(answer, "Content-Type") != "application/problem+json" || !strings.Contains(body, `"code":"NOT_FOUND"`) {
			t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.MultiValueHeaders, body)
		}
	}
}
