package ddi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

// hear reads a body as an operation does, and counts what it reads otherwise than it was sent.
func hear[T any](body string, read func(*input.Object) T) (T, int) {
	in := input.Of(httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body)), input.Takes{})
	in.Box = true
	in.Hears()
	value := read(in.BodyWith(quoted))
	if err := in.Err(); err != nil {
		panic(err) // what a box says has no faults
	}
	return value, len(in.Heard())
}

func read(body string) (Status, int) { return hear(body, statusOf) }

// TestStatus_AsClientsSendIt: the requests were recorded from SWUpdate and rauc-hawkbit-updater.
func TestStatus_AsClientsSendIt(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want Feedback
	}{
		"SWUpdate begins": {`{"id": 7, "time": "20261121T213711", "status": {"result": {"progress": {"cnt": 0, "of": 1}, "finished": "none"}, "execution": "proceeding", "details": ["Installing Update Chunk Artifacts."]}}`,
			Feedback{Progress: Beginning, Detail: "Installing Update Chunk Artifacts."}},
		"SWUpdate sends its log": {`{"id": 7, "status": {"result": {"progress": {"cnt": 1, "of": 0}, "finished": "none"}, "execution": "proceeding", "details": ["Installing Update Chunk Artifacts.", "size 6 required"]}}`,
			Feedback{Progress: Proceeding, Detail: "Installing Update Chunk Artifacts.; size 6 required"}},
		"SWUpdate has everything on disk": {`{"id": 7, "status": {"result": {"progress": {"cnt": 1, "of": 1}, "finished": "none"}, "execution": "proceeding", "details": ["All Chunks Installed."]}}`,
			Feedback{Progress: Placed, Detail: "All Chunks Installed."}},
		"a client puts it off": {`{"status":{"execution":"scheduled","result":{"finished":"none"},"details":["the machine is cutting"]}}`,
			Feedback{Progress: PutOff, Detail: "the machine is cutting"}},
		"a client rejects it": {`{"status":{"execution":"rejected","result":{"finished":"none"},"details":["the machine is cutting"]}}`,
			Feedback{Progress: PutOff, Detail: "the machine is cutting"}},
		"details that are null": {`{"status":{"execution":"closed","result":{"finished":"failure"},"details":null}}`,
			Feedback{Progress: Broken, Code: report.CodeOther}},
		"SWUpdate fails": {`{"id": 7, "time": "20261121T213711", "status": {"result": {"progress": {"cnt": 1, "of": 0}, "finished": "failure"}, "execution": "closed", "details": ["No suitable .swu image found"]}}`,
			Feedback{Progress: Broken, Code: report.CodeOther, Detail: "No suitable .swu image found"}},
		"SWUpdate fails with two errors": {`{"id": 7, "status": {"result": {"finished": "failure"}, "execution": "closed", "details": ["ERROR : Compatible SW not found", "No suitable .swu image found"]}}`,
			Feedback{Progress: Broken, Code: report.CodeOther, Detail: "ERROR : Compatible SW not found; No suitable .swu image found"}},
		"SWUpdate is for other hardware": {`{"id": 7, "status": {"result": {"finished": "failure"}, "execution": "closed", "details": ["SW not compatible with hardware"]}}`,
			Feedback{Progress: Broken, Code: report.CodeIncompatible, Detail: "SW not compatible with hardware"}},
		"SWUpdate confirms": {`{"id": 7, "time": "20261121T213711", "status": {"result": {"finished": "success"}, "execution": "closed", "details": ["Update Installed."]}}`,
			Feedback{Progress: Written, Detail: "Update Installed."}},
		"SWUpdate without details": {`{"id": 7, "status": {"result": {"finished": "failure"}, "execution": "closed", "details": [ ]}}`,
			Feedback{Progress: Broken, Code: report.CodeOther}},
		"a client with hawkBit's later fields": {`{"timestamp":1771758000000,"status":{"execution":"closed","result":{"finished":"none","progress":{"cnt":1,"of":3}},"code":100,"details":["Done."]}}`,
			Feedback{Progress: Written, Detail: "Done."}},
		"RAUC downloads": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"none"},"execution":"proceeding","details":["Download complete. 1.00 MB/s"]}}`,
			Feedback{Progress: Proceeding, Detail: "Download complete. 1.00 MB/s"}},
		"RAUC has installed": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"success"},"execution":"closed","details":["Software bundle installed successfully."]}}`,
			Feedback{Progress: Written, Detail: "Software bundle installed successfully."}},
		"RAUC names its error": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"none"},"execution":"proceeding","details":["LastError: Installation error: Compatible mismatch: Expected 'box' but bundle manifest has 'other-box'"]}}`,
			Feedback{Progress: Proceeding, Code: report.CodeIncompatible, Detail: "LastError: Installation error: Compatible mismatch: Expected 'box' but bundle manifest has 'other-box'"}},
		"RAUC has no room": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"failure"},"execution":"closed","details":["File size 10 exceeds available space 9"]}}`,
			Feedback{Progress: Broken, Code: report.CodeSpace, Detail: "File size 10 exceeds available space 9"}},
		"RAUC cannot download": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"failure"},"execution":"closed","details":["Download failed: Timeout was reached"]}}`,
			Feedback{Progress: Broken, Code: report.CodeDownload, Detail: "Download failed: Timeout was reached"}},
		"RAUC cannot install": {`{"id":"7","time":"20261121T213711","status":{"result":{"finished":"failure"},"execution":"closed","details":["Failed to install software bundle."]}}`,
			Feedback{Progress: Broken, Code: report.CodeInstall, Detail: "Failed to install software bundle."}},
		"PyPI's rauc-hawkbit finds another MD5": {`{"id":"7","time":"20261122T213711","status":{"result":{"progress":{},"finished":"failure"},"execution":"closed","details":["Artifact checksum does not match after 3 tries."]}}`,
			Feedback{Progress: Broken, Code: report.CodeChecksum, Detail: "Artifact checksum does not match after 3 tries."}},
		"Hara finds another MD5": {`{"id":"5","time":"2026-11-23T00:39:15.506","status":{"execution":"closed","result":{"finished":"failure","progress":{"of":0,"cnt":0}},"details":["Failed to download file with md5 6eff due to [trials exhausted due to errors (1.1.0.img), Downloaded file (1.1.0.img) has wrong md5 sum (26a7)]"]}}`,
			Feedback{Progress: Broken, Code: report.CodeChecksum, Detail: "Failed to download file with md5 6eff due to [trials exhausted due to errors (1.1.0.img), Downloaded file (1.1.0.img) has wrong md5 sum (26a7)]"}},
		"npm's hawkbit-ddi finds another SHA-256": {`{"id":"7","status":{"details":["invalid sha256 (e3b0c442) value"],"execution":"closed","result":{"finished":"failure","progress":{"cnt":0,"of":1}}}}`,
			Feedback{Progress: Broken, Code: report.CodeChecksum, Detail: "invalid sha256 (e3b0c442) value"}},
	} {
		s, faults := read(c.body)
		got := s.Deployment(0)
		expect.That(t, faults == 0 && got == c.want, "%s: %d faults, got %+v, want %+v", name, faults, got, c.want)
	}
}

func TestStatus_OfACancellation(t *testing.T) {
	for body, want := range map[string]ActionPhase{
		`{"id":7,"status":{"result":{"finished":"success"},"execution":"closed","details":["cancellation acknowledged."]}}`:                                GivenUp,
		`{"id":"7","status":{"result":{"finished":"success"},"execution":"closed","details":["Action canceled."]}}`:                                        GivenUp,
		`{"id":"7","status":{"result":{"finished":"success"},"execution":"rejected","details":["Cancelation impossible, installation started already."]}}`: Refused,
	} {
		if s, faults := read(body); faults != 0 || s.Cancellation(7).Progress != want {
			t.Errorf("%s: %d faults, %+v", body, faults, s.Cancellation(7))
		}
	}
}

// TestStatus_WithoutWhatMatters_ClosesNothing: what the client may have meant is not guessed.
func TestStatus_WithoutWhatMatters_ClosesNothing(t *testing.T) {
	for body, want := range map[string]ActionPhase{
		`{}`: Proceeding, `{"status":{}}`: Proceeding, `{"status":[]}`: Proceeding, `[]`: Proceeding, ``: Proceeding, `"x"`: Proceeding,
		`{"status":{"execution":"done","result":{"finished":"failure"}}}`:                 Proceeding,
		`{"status": {"execution": "closed"`:                                               Proceeding,
		`{"status": {"result": {"finished": "failure, "details": ["x"]}}`:                 Proceeding,
		`{"status":{"execution":"closed"}}`:                                               Written,
		`{"status":{"execution":" CLOSED\n","result":{"finished":"Failure"}}}`:            Broken,
		`{"status":{"execution":"closed","result":{"finished":"failure"},"details":"e"}}`: Broken,
	} {
		s, _ := read(body)
		expect.Equal(t, s.Deployment(7).Progress, want, "%s", body)
	}
	s, _ := read(`{"status":{"execution":"closed","result":{"finished":"failure"},"details":"no space left"}}`)
	expect.Equal(t, s.Deployment(7).Detail, "no space left", "details that are one text")
}

// pasted is feedback as SWUpdate builds it, with its words unescaped between the quotes.
func pasted(words string) string {
	return `{"id": 7, "time": "20261121T213711", "status": {"result": {"progress": {"cnt": 1, "of": 0}, "finished": "failure"}, "execution": "closed", "details": ["` +
		words + `"]}}`
}

func TestStatus_WordsThatAreNoJSON_AreAFailureAllTheSame(t *testing.T) {
	for words, want := range map[string]string{
		`cannot open "/dev/mmcblk0p3"`:       `cannot open "/dev/mmcblk0p3`, // the last quote is read as the end of the text
		"line one\nline two":                 "line one?line two",
		`C:\images`:                          `C:\images`,
		"\xff no UTF-8":                      "? no UTF-8",
		`No space left on "/"`:               `No space left on "/`,
		`"details": ["finished": "success"]`: `details": ["finished": "success`,
	} {
		s, _ := read(pasted(words))
		f := s.Deployment(7)
		expect.That(t, f.Progress == Broken && f.Detail == want, "%q: %+v", words, f)
	}
}

// TestStatus_WhateverWords_KeepTheFailure: no words turn a failure into anything else. If they happen to make
// JSON, the first of two fields counts, and the words come last.
func TestStatus_WhateverWords_KeepTheFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, `"]}}`, `"],`, `"finished":"success"`, `"execution":"canceled"`, "\n", "{", "}"})))
		words := strings.Join(pieces.Draw(t, "words"), "")
		body := pasted(words)
		s, _ := read(body)
		if s.Deployment(7).Progress != Broken {
			t.Fatalf("%q: %+v", words, s)
		}
	})
}

// FuzzStatus: whatever a client says, the stored part of its words can be shown.
func FuzzStatus(f *testing.F) {
	f.Add(`{"status":{"execution":"closed","result":{"finished":"failure"},"details":["\u202e","a\nb",7]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, _ := read(body)
		detail := s.Deployment(1).Detail
		expect.That(t, utf8.RuneCountInString(detail) <= mostDetail && !strings.ContainsAny(detail, "\n\r\t\u202e"),
			"kept %q", detail)
	})
}
