package proof

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
)

// judge returns what is wrong with a single answer, without looking at the tables.
func judge(p person, r samples.Call, a harness.Answer, killing bool) []string {
	op := table.Get(r.Operation)
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if a.Status >= 400 {
		if w := judgeProblem(a); w != "" {
			add("%s", w)
		}
	} else if kind := a.Header.Get("Content-Type"); (a.Status == http.StatusNoContent || a.Status == http.StatusNotModified || kind == "") && len(a.Body) > 0 {
		add("a body with a status that allows none")
	}
	switch a.Status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusNotModified:
		if w := mayNot(p, r); w != "" {
			add("answered to %s", w)
		}
	case http.StatusUnauthorized:
		if !p.nobody() && !p.Has(auth.Enrolment) { // an enrolment ends
			add("a good token was refused")
		}
	case http.StatusForbidden:
		limited := !p.Has(auth.PlatformOwner) && op.ID == "put-factory" // to the factory's updates
		if d, err := a.Problem(); p.Has(op.Roles...) && !limited && (err != nil || d.Code != problem.SelfApproval) {
			add("a caller with the right role was refused")
		}
	case http.StatusInternalServerError:
		add("an internal error")
	case http.StatusBadGateway:
		if !killing {
			add("no process was killed")
		}
	}
	if p.nobody() && a.Status != http.StatusUnauthorized {
		add("nobody was answered with %d", a.Status)
	}
	// Fleet viewers see the organization of each box, and the events of factories in the platform's audit trail.
	everyones := p.readsAll(op)
	for _, o := range organizations {
		if o != p.OrganizationID && !everyones &&
			(strings.Contains(string(a.Body), secret(o)) || strings.Contains(string(a.Body), `"organizationId":"`+o)) {
			add("it tells of %s", o)
		}
	}
	return wrong
}

// mayNot returns why a caller is not allowed to use an operation, or an empty string.
func mayNot(p person, r samples.Call) string {
	op := table.Get(r.Operation)
	if !p.Has(op.Roles...) {
		return "a caller without the role"
	}
	if box, speaks := r.Parameters["controllerId"]; speaks && box != p.UserID {
		return "another box"
	}
	factory, about := r.Parameters["factoryId"]
	if p.Has(auth.Edge) {
		return "" // the ledger knows in which factory the box was
	}
	if !about || ownerOf(factory) == p.OrganizationID ||
		p.Has(auth.PlatformOwner) && slices.Contains(op.Roles, auth.PlatformOwner) {
		return ""
	}
	return "one of another organization"
}

// judgeProblem returns what is wrong with a problem document and its headers.
func judgeProblem(a harness.Answer) string {
	d, err := a.Problem()
	kind := problem.ClassOf(d.Code)
	switch {
	case err != nil:
		return "no problem document: " + err.Error()
	case a.Header.Get("Content-Type") != problem.ContentType:
		return "the problem has the media type " + a.Header.Get("Content-Type")
	case kind.Code != d.Code || kind.Status != a.Status || d.Status != a.Status || d.Type != d.Code.Type():
		return "the problem's code, status and type do not belong together"
	case d.Detail == "" || d.Title == "" || d.RequestID == "" || d.RequestID != a.Header.Get("X-Amzn-Requestid"):
		return "the problem has no detail, title or request id"
	case strings.Contains(d.Detail, "Exception") || strings.Contains(d.Detail, "injected"):
		return "the problem shows its cause"
	case a.Status == http.StatusUnauthorized && a.Header.Get("WWW-Authenticate")+a.Header.Get("X-Amzn-Remapped-Www-Authenticate") == "":
		return "a 401 without WWW-Authenticate"
	}
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if due := a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable; due && (err != nil || seconds < 1 || seconds > 70) {
		return "Retry-After is " + strconv.Quote(a.Header.Get("Retry-After"))
	}
	return ""
}
