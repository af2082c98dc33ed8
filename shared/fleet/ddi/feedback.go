package ddi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// Rules of what clients say of an action. They follow hawkBit, which refuses everything else, too.
var (
	ExecutionRule = &input.Text{
		Pattern: `closed|proceeding|canceled|scheduled|rejected|resumed|download|downloaded`,
		Says:    "closed, proceeding, canceled, scheduled, rejected, resumed, download or downloaded",
	}
	FinishedRule = &input.Text{Pattern: `success|failure|none`, Says: "success, failure or none"}
	// CountRule is that of the query parameters c and actionHistory, which some clients send. Neither changes anything.
	CountRule = &input.Text{Pattern: `-?[0-9]{1,10}`, Says: "a whole number of at most ten digits"}
	// ActionRule is that of an action's number in a path. Clients keep it in 32 bits.
	ActionRule = &input.Text{Pattern: `[1-9][0-9]{0,9}`, Says: "the number of an action"}
)

// Action reads an action's number; 0 where it is too large to be one.
func Action(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// A Status is what a client says of an action.
type Status struct {
	Execution string
	Finished  string
	Details   []string
}

// Quoted makes JSON of a feedback whose details are not. SWUpdate puts its words between quotes without escapes. So a
// quote or a line break among them makes the whole body invalid, and a failure would be lost. What stands before the
// details is kept, and the words become one text. It returns nil where there are no details.
func Quoted(body []byte) []byte {
	before, words, found := bytes.Cut(body, []byte(`"details"`))
	if !found {
		return nil
	}
	words = bytes.TrimRight(bytes.TrimLeft(words, " \t\r\n:[\""), " \t\r\n\"]}")
	text, _ := json.Marshal(string(words)) // a string can always be encoded
	return slices.Concat(before, []byte(`"details":[`), text, []byte(`]}}`))
}

// FeedbackBody is what a client says of an action. Other fields are ignored: the number of the action is in the path, and
// the time is wrong on a box without a clock.
var FeedbackBody = open("status", open("execution", ExecutionRule,
	input.Field{Name: "details", Is: &input.List{}, Clearable: true},
	input.Field{Name: "result", Is: open("finished", FinishedRule), Required: true}))

// ConfigBody is what a client says of the box.
var ConfigBody = open("data", &input.Shape{Open: true, Fields: input.Fields{{Name: Attribute, Is: edge.InstalledRule}}})

// open is an object with a field that it has to have, and any others.
func open(name string, rule input.Rule, more ...input.Field) *input.Shape {
	return &input.Shape{Open: true, Fields: append(input.Fields{{Name: name, Is: rule, Required: true}}, more...)}
}

// StatusOf reads a client's feedback.
func StatusOf(body *input.Object) Status {
	var s Status
	body.Object("status", func(status *input.Object) {
		s.Execution = status.Text("execution")
		if !status.Null("details") {
			s.Details = status.Strings("details")
		}
		status.Object("result", func(result *input.Object) {
			s.Finished = result.Text("finished")
		})
	})
	return s
}

// lastError is what rauc-hawkbit-updater begins RAUC's error with. It comes before the failure is reported.
const lastError = "LastError: "

// SWUpdate sends these words first and last. It closes the action only after the reboot, and only if it has a boot state.
const (
	begins = "Installing Update Chunk Artifacts."
	placed = "All Chunks Installed."
)

// says reports whether these are the client's words for a step of an action.
func (s Status) says(words string) bool {
	return s.Execution == "proceeding" && len(s.Details) == 1 && s.Details[0] == words
}

// Deployment is what the status says of an action that was to be carried out. A client of RAUC closes it with success
// when the version is on disk, before the reboot, and one of SWUpdate after it. Neither says which version runs.
func (s Status) Deployment(action int64) report.Feedback {
	f := report.Feedback{Action: action, Progress: report.Proceeding, Detail: s.detail()}
	switch {
	case s.Execution == "canceled":
		f.Progress = report.GivenUp
	case s.Execution == "scheduled" || s.Execution == "rejected":
		f.Progress = report.PutOff
	case s.says(begins):
		f.Progress = report.Beginning
	case s.says(placed):
		f.Progress = report.Placed
	case s.Execution != "closed":
		if strings.HasPrefix(f.Detail, lastError) {
			f.Code = s.code()
		}
	case s.Finished == "failure":
		f.Progress, f.Code = report.Broken, s.code()
	default:
		f.Progress = report.Written
	}
	return f
}

// Cancellation is what the status says of an action that was to be given up.
func (s Status) Cancellation(action int64) report.Feedback {
	f := report.Feedback{Action: action, Progress: report.Refused}
	if s.Execution == "canceled" || s.Execution == "closed" && s.Finished != "failure" {
		f.Progress = report.GivenUp
	}
	return f
}

// mostDetail is how many characters of a client's words are kept.
const mostDetail = 256

// detail is what the client says in its own words. It may be its whole log, of which the beginning is kept: it tells what
// went wrong first.
func (s Status) detail() string {
	var parts []string
	for _, d := range s.Details {
		if d = strings.TrimSpace(d); d != "" {
			parts = append(parts, d)
		}
	}
	text := []rune(report.Shown(strings.Join(parts, "; ")))
	return string(text[:min(len(text), mostDetail)])
}

// reasons are what clients were seen to write, in lower case, and what it means. The first that is found counts.
var reasons = []struct {
	says string
	code report.FailureCode
}{
	{"exceeds available space", report.CodeSpace}, // RAUC
	{"no space left", report.CodeSpace},
	{"not enough free space", report.CodeSpace},
	{"invalid checksum", report.CodeChecksum}, // RAUC
	{"sha1 does not match", report.CodeChecksum},
	{"checksum does not match", report.CodeChecksum}, // PyPI's rauc-hawkbit
	{"invalid sha", report.CodeChecksum},             // npm's hawkbit-ddi, which names the algorithm
	{"invalid md5", report.CodeChecksum},
	{"wrong md5", report.CodeChecksum}, // Hara
	{"hash mismatch", report.CodeChecksum},
	{"hash wrong", report.CodeChecksum},
	{"download failed", report.CodeDownload}, // RAUC
	{"channel operation returned", report.CodeDownload},
	{"channel get operation failed", report.CodeDownload},
	{"could not resolve host", report.CodeDownload},
	{"couldn't connect", report.CodeDownload},
	{"signature", report.CodeSignature},
	{"verification failed", report.CodeSignature},
	{"not compatible", report.CodeIncompatible},
	{"compatible mismatch", report.CodeIncompatible}, // RAUC; SWUpdate's "Compatible SW not found" may mean anything
	{"install", report.CodeInstall},
}

// code is why an action failed, as far as the client's words tell.
func (s Status) code() report.FailureCode {
	said := strings.ToLower(strings.Join(s.Details, "\n"))
	for _, r := range reasons {
		if strings.Contains(said, r.says) {
			return r.code
		}
	}
	return report.CodeOther
}

// Attribute is the attribute by which a client says what the box runs.
const Attribute = "installed"

// InstalledOf reads the version that a client says the box runs from its attributes; empty: it does not say.
func InstalledOf(body *input.Object) string {
	var installed string
	body.Object("data", func(data *input.Object) {
		installed, _ = data.OptionalText(Attribute)
	})
	return report.Shown(installed)
}
