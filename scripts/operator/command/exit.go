package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/shared/operations/table"
)

// The exit codes of the command.
const (
	Done        = 0   // done, or nothing to do
	Refused     = 1   // the service refused, or something on this machine prevents it
	Misused     = 2   // wrong use of the command, or not confirmed
	Otherwise   = 3   // the rollout that was watched or awaited ended in another way
	SignIn      = 4   // nobody is signed in, or the person is not allowed to do this
	Unknown     = 5   // the service cannot be reached, or the outcome of the call is unknown
	Interrupted = 130 // by a signal
)

// A failure is an error with the exit code of the command.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...)}
}

// codeOf is the exit code for an error of a command.
func codeOf(err error) int {
	if err == nil {
		return Done
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	if errors.Is(err, login.ErrSignIn) {
		return SignIn
	}
	if r, ok := errors.AsType[*api.RefusedError](err); ok && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		return SignIn
	}
	if lost(err) {
		return Unknown
	}
	_, unreachable := errors.AsType[*url.Error](err)
	_, unknown := errors.AsType[*api.Unknown](err)
	if unreachable || unknown || errors.Is(err, context.DeadlineExceeded) {
		return Unknown
	}
	return Refused
}

// lost reports whether a call may have been refused because its first try succeeded and the answer was lost.
func lost(err error) bool {
	r, ok := errors.AsType[*api.RefusedError](err)
	return ok && r.Repeated && r.Status == http.StatusPreconditionFailed
}

// hint says what to do after an error; empty if the error says enough.
func hint(err error) string {
	if lost(err) {
		return "the answer to the first try was lost, and it may have been carried out; look again"
	}
	r, ok := errors.AsType[*api.RefusedError](err)
	if !ok {
		return ""
	}
	switch r.Code {
	case "FROZEN", "WINDOW_CLOSED":
		return "use --override REASON to do it anyway"
	case "APPROVAL_REQUIRED":
		return "a second person has to approve it: wavegate approve CHANNEL"
	}
	return ""
}

// forbidden reports whether none of the person's roles allows a call. The service only names the operation.
func forbidden(err error) (operation string, is bool) {
	r, ok := errors.AsType[*api.RefusedError](err)
	if !ok || r.Code != "FORBIDDEN" {
		return "", false
	}
	operation, is = strings.CutPrefix(r.Detail, "Your roles do not allow the operation ")
	return strings.TrimSuffix(operation, "."), is
}

// may says what each role is for.
var may = map[string]string{
	"platform_owner":      "looks after boxes, rollouts, factories and limits",
	"organization_admin":  "looks after the methods, machines and tokens of one organization",
	"production_engineer": "works on production methods and machines (wavegate methods), and neither sees nor changes rollouts",
	"fleet_viewer":        "sees everything about boxes and rollouts (wavegate status, watch, boxes, why, log), and changes nothing",
	"fleet_installer":     "registers new boxes (wavegate register)",
}

// mayDo says who is signed in, what their roles are for, and which roles allow the operation.
func (a *app) mayDo(operation string) string {
	text := "your roles do not allow this" + takers(operation)
	who, _, _ := a.person() // without a person, no role is named
	for i, role := range who.Roles {
		if i == 0 {
			text += ". You are " + who.Subject
		}
		if what, known := may[role]; known {
			text += ": " + one(role) + " " + what
		}
	}
	return text
}

// one returns a role with its article.
func one(role string) string {
	if strings.HasPrefix(role, "o") {
		return "an " + role
	}
	return "a " + role
}

// takers lists the roles that allow an operation.
func takers(operation string) string {
	var list []string
	for _, op := range table.All {
		for _, role := range op.Roles {
			if _, person := may[string(role)]; op.ID == operation && person {
				list = append(list, one(string(role)))
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; ask " + strings.Join(list, " or ")
}

// document returns the service's own answer that caused an error, or nil.
func document(err error) []byte {
	if u, ok := errors.AsType[*api.Unknown](err); ok {
		return u.Document
	}
	if r, ok := errors.AsType[*api.RefusedError](err); ok {
		return r.Document
	}
	return nil
}
