package operations

import (
	"net/http"
	"slices"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// These are the statuses of successes that several operations share.
var (
	Shown   = []int{http.StatusOK}
	Read    = []int{http.StatusOK, http.StatusNotModified}
	Stored  = []int{http.StatusCreated, http.StatusNoContent}
	Created = []int{http.StatusCreated}
	Changed = []int{http.StatusNoContent}
	// Silenced are those of the end of a box that may speak for machines; see machine.Left.
	Silenced = []int{http.StatusOK, http.StatusNoContent}
)

// always are the refusals of every operation. Some are the gateway's.
var always = []problem.Code{
	problem.ValidationFailed, problem.Unauthenticated, problem.Forbidden, problem.RateLimited,
	problem.Internal, problem.BadGateway, problem.Unavailable, problem.Timeout,
}

// Problems lists the codes of all problems that a call of the operation can be answered with: those of every operation,
// those that follow from what it takes, and its own.
func (op Operation) Problems() []problem.Code {
	codes := slices.Concat(always, op.Refuses)
	takes := func(name string) bool {
		return slices.ContainsFunc(op.Takes.Query, func(f input.Field) bool { return f.Name == name })
	}
	for code, follows := range map[problem.Code]bool{
		problem.InvalidJSON:          op.Takes.Body != nil && !op.Takes.Hears,
		problem.BodyTooLarge:         op.Takes.Body != nil && !op.Takes.Hears,
		problem.UnsupportedMediaType: op.Takes.Body != nil && !op.Takes.Hears,
		problem.Conflict:             op.Method != http.MethodGet,
		problem.PreconditionFailed:   op.Takes.Conditions,
		problem.IdempotencyKeyReused: op.Takes.IdempotencyKey,
		problem.InvalidCursor:        takes("cursor"),
		problem.OffsetTooLarge:       takes("offset"),
	} {
		if follows {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}
