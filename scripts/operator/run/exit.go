package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/shared/operations"
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
	Late        = 6   // the time to wait is over, and the rollout still goes on
	Interrupted = 130 // by a signal
)

// A failure is an error with the exit code of the command.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Fail makes an error with which the command ends.
func Fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...)}
}

// CodeOf is the exit code for an error of a command.
func CodeOf(err error) int {
	f, failed := errors.AsType[*failure](err)
	_, unreachable := errors.AsType[*url.Error](err)
	_, unknown := errors.AsType[*api.Unknown](err)
	_, misnamed := errors.AsType[*login.UnknownProfileError](err)
	switch {
	case err == nil:
		return Done
	case failed:
		return f.code
	case misnamed:
		return Misused
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, login.ErrSignIn) || answered(err, http.StatusUnauthorized) || Forbidden(err):
		return SignIn
	case lost(err) || unreachable || unknown || errors.Is(err, context.DeadlineExceeded):
		return Unknown
	}
	return Refused
}

// Missing reports whether the service answered that something does not exist.
func Missing(err error) bool { return answered(err, http.StatusNotFound) }

// Forbidden reports whether the person's role does not allow a call.
func Forbidden(err error) bool { return answered(err, http.StatusForbidden) }

// Changed reports whether the resource has changed since it was read.
func Changed(err error) bool { return answered(err, http.StatusPreconditionFailed) }

func answered(err error, status int) bool {
	r, ok := errors.AsType[*api.RefusedError](err)
	return ok && r.Status == status
}

// lost reports whether a call may have been refused because its first try succeeded and the answer was lost.
func lost(err error) bool {
	r, ok := errors.AsType[*api.RefusedError](err)
	return ok && r.Repeated && Changed(err)
}

// Hint says what to do after an error; empty if the error says enough.
func Hint(err error) string {
	if lost(err) {
		return "the answer to the first try was lost, and it may have been carried out; look again"
	}
	if r, ok := errors.AsType[*api.RefusedError](err); ok {
		switch r.Code {
		case "FROZEN", "WINDOW_CLOSED":
			return "use --override REASON to do it anyway"
		case "APPROVAL_REQUIRED":
			return "a second person has to approve it: wavegate approve CHANNEL"
		}
	}
	return ""
}

// may says what each role is for.
var may = map[string]string{
	"platform_owner":      "looks after boxes, rollouts, factories and limits",
	"platform_viewer":     "sees everything about boxes and rollouts (wavegate status, watch, boxes, why, log), and changes nothing",
	"organization_admin":  "looks after the boxes, methods, machines and tokens of one organization",
	"production_engineer": "works on production methods and machines (wavegate methods)",
	"fleet_viewer":        "sees the boxes of one organization and what rollouts do with them (wavegate status, boxes, why, log), and changes nothing",
	"fleet_installer":     "registers new boxes (wavegate register)",
}

// instead says what people can do without the right for an operation.
var instead = map[string]string{
	"list-factory-audit-events": "; wavegate methods show has a version's signatures",
}

// MayNot explains a call that none of the person's roles allows: who is signed in, what their roles are for, and which
// roles allow the operation, which is all that the service names. is reports whether the error is of such a call.
func (r *Run) MayNot(err error) (text string, is bool) {
	refused, ok := errors.AsType[*api.RefusedError](err)
	if !ok || refused.Code != "FORBIDDEN" {
		return "", false
	}
	operation, is := strings.CutPrefix(refused.Detail, "Your roles do not allow the operation ")
	operation = strings.TrimSuffix(operation, ".")
	text = "your roles do not allow this" + takers(operation) + instead[operation]
	who, _, _ := r.Person() // without a person, no role is named
	for i, role := range who.Roles {
		if i == 0 {
			text += ". You are " + who.Subject
		}
		if what, known := may[role]; known {
			text += ": " + one(role) + " " + what
		}
	}
	return text, is
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
	i := slices.IndexFunc(table.All, func(op operations.Operation) bool { return op.ID == operation })
	if i < 0 {
		return ""
	}
	var list []string
	for _, role := range table.All[i].Roles {
		if _, person := may[string(role)]; person {
			list = append(list, one(string(role)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; ask " + strings.Join(list, " or ")
}

// Document returns the service's own answer that caused an error, or nil.
func Document(err error) []byte {
	if u, ok := errors.AsType[*api.Unknown](err); ok {
		return u.Document
	}
	if r, ok := errors.AsType[*api.RefusedError](err); ok {
		return r.Document
	}
	return nil
}
