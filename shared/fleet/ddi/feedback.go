package ddi

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/input"
)

// Rules for clients' feedback. They follow hawkBit, which also refuses everything else.
var (
	ExecutionRule = &input.Text{
		Pattern: `closed|proceeding|canceled|scheduled|rejected|resumed|download|downloaded`,
		Says:    "closed, proceeding, canceled, scheduled, rejected, resumed, download or downloaded",
	}
	FinishedRule = &input.Text{Pattern: `success|failure|none`, Says: "success, failure or none"}
	countRule    = &input.Text{Pattern: `-?[0-9]{1,10}`, Says: "a whole number of at most ten digits"}
	// ActionRule is for an action's number in a path. Clients store it in 32 bits.
	ActionRule = &input.Text{Pattern: `[1-9][0-9]{0,9}`, Says: "the number of an action"}
)

// Action reads an action's number; 0 if it is too large to be one.
func Action(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// A Status is a client's feedback on an action.
type Status struct {
	Execution string
	Finished  string
	Details   []string
}

// quoted makes valid JSON of feedback with invalid details. SWUpdate puts its words between quotes without escaping
// them. So a quote or a line break among them makes the whole body invalid, and a failure would be lost. Quoted keeps
// all before the details, and makes the details one text. It returns nil if there are no details.
func quoted(body []byte) []byte {
	before, words, found := bytes.Cut(body, []byte(`"details"`))
	if !found {
		return nil
	}
	words = bytes.TrimRight(bytes.TrimLeft(words, " \t\r\n:[\""), " \t\r\n\"]}")
	text, _ := json.Marshal(string(words)) // a string can always be encoded
	return slices.Concat(before, []byte(`"details":[`), text, []byte(`]}}`))
}

// CallOf reads the path parameters of every call.
func CallOf(in *input.Reader) ClientCall {
	in.Hears()
	return ClientCall{Tenant: in.Path("tenant", input.Name), ControllerID: in.Path("controllerId", input.EdgeID)}
}

// A CallAbout is a call about an action.
type CallAbout struct {
	ClientCall
	Action int64
}

// CallAboutOf reads the path parameters of a call about an action.
func CallAboutOf(in *input.Reader) CallAbout {
	return CallAbout{CallOf(in), Action(in.PathHeard("actionId", ActionRule))}
}

// DeploymentOf reads a call for a deployment, with two query parameters that some clients send. They have no effect.
func DeploymentOf(in *input.Reader) CallAbout {
	call := CallAboutOf(in)
	in.Query("c", countRule)
	in.Query("actionHistory", countRule)
	return call
}

// FeedbackOf reads feedback on an action.
func FeedbackOf(in *input.Reader) input.Sent[CallAbout, Status] {
	return input.Sent[CallAbout, Status]{Path: CallAboutOf(in), Body: statusOf(in.BodyWith(quoted))}
}

// statusOf reads a client's feedback on an action. Other fields are ignored: the number of the action is in the path, and
// the time is wrong on a box without a clock.
func statusOf(body *input.Object) Status {
	var s Status
	body.Open()
	body.Object("status", func(status *input.Object) {
		status.Open()
		s.Execution = status.Text("execution", ExecutionRule)
		s.Details = status.Strings("details")
		status.Object("result", func(result *input.Object) {
			result.Open()
			s.Finished = result.Text("finished", FinishedRule)
		})
	})
	return s
}

// lastError begins rauc-hawkbit-updater's message with RAUC's error. The message comes before the failure is reported.
const lastError = "LastError: "

// SWUpdate sends these words first and last. It closes the action only after the reboot, and only if it has a boot state.
const (
	begins = "Installing Update Chunk Artifacts."
	placed = "All Chunks Installed."
)

// says reports whether the client says these words about a step of an action.
func (s Status) says(words string) bool {
	return s.Execution == "proceeding" && len(s.Details) == 1 && s.Details[0] == words
}

// Deployment is what the status means for a deployment. A RAUC client closes it with success when the version is on
// disk, before the reboot, and an SWUpdate client after the reboot. Neither says which version runs.
func (s Status) Deployment(action int64) Feedback {
	f := Feedback{Action: action, Progress: Proceeding, Detail: s.detail()}
	switch {
	case s.Execution == "canceled":
		f.Progress = GivenUp
	case s.Execution == "scheduled" || s.Execution == "rejected":
		f.Progress = PutOff
	case s.says(begins):
		f.Progress = Beginning
	case s.says(placed):
		f.Progress = Placed
	case s.Execution != "closed":
		if strings.HasPrefix(f.Detail, lastError) {
			f.Code = s.code()
		}
	case s.Finished == "failure":
		f.Progress, f.Code = Broken, s.code()
	default:
		f.Progress = Written
	}
	return f
}

// Cancellation is what the status means for an action that the box was asked to give up.
func (s Status) Cancellation(action int64) Feedback {
	f := Feedback{Action: action, Progress: Refused}
	if s.Execution == "" { // it cannot be read, so the client is asked again
		f.Progress = Proceeding
	}
	if s.Execution == "canceled" || s.Execution == "closed" && s.Finished != "failure" {
		f.Progress = GivenUp
	}
	return f
}

// mostDetail limits the characters of a client's message that are stored.
const mostDetail = 256

// detail is the client's own message. It may be its whole log. The beginning is stored: it shows what went wrong first.
func (s Status) detail() string {
	var parts []string
	for _, d := range s.Details {
		if d = strings.TrimSpace(d); d != "" {
			parts = append(parts, d)
		}
	}
	text := []rune(input.Cleaned(strings.Join(parts, "; ")))
	return string(text[:min(len(text), mostDetail)])
}

// reasons maps messages seen from clients, in lower case, to their meaning. The first match counts.
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

// code is why an action failed, as far as the client's message says.
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

// StatementOf reads what a client says about its box. A bad attribute is no fault: the client would send nothing else.
func StatementOf(body *input.Object) (s Statement) {
	body.Open()
	fields, _ := body.Others()
	s.Mode = strings.ToLower(strings.TrimSpace(fields["mode"]))
	body.Object("data", func(data *input.Object) {
		data.Open()
		s.Running, _ = data.OptionalText(Attribute, polling.RunningRule)
		if s.Mode != "remove" {
			s.Others = report.FittedOf(data)
			return
		}
		s.Others = map[string]string{}
		names, _ := data.Others()
		for name := range names {
			s.Others[report.NameOf(name)] = ""
		}
	})
	return s
}

// says takes what the box runs from another attribute, which is then none of its attributes; empty: there is none.
func (s *Statement) says(attribute string) {
	if s.Running = s.Others[attribute]; s.Running != "" {
		s.Others = maps.Clone(s.Others)
		delete(s.Others, attribute)
	}
}

// said is what the box has said after this, as in hawkBit.
func (s Statement) said(before map[string]string) map[string]string {
	switch s.Mode {
	case "remove":
		rest := maps.Clone(before)
		maps.DeleteFunc(rest, func(name, _ string) bool { _, gone := s.Others[name]; return gone })
		return rest
	case "replace":
		before = nil
	}
	return report.Fitting(s.Others, before)
}
