package function

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/operations"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/ratelimit"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A Call is one request of an authenticated caller.
type Call struct {
	*lambdahttp.Call
	// Caller is who calls. For a gateway it is the box that the path names.
	Caller auth.Principal
	// When are the preconditions, and Claim is the claim to the Idempotency-Key with all that the body says, if the
	// operation takes them.
	When  input.Preconditions
	Claim idempotency.Claim

	token   auth.Principal // who the token belongs to, which may be a gateway
	limiter Limiter
	op      operations.Operation
	calls   []time.Time // see Calls
}

// Route is the operation's path with the values of this call.
func (c *Call) Route() string {
	route := c.op.Path
	for _, name := range c.op.Parameters() {
		route = strings.Replace(route, "{"+name+"}", c.Request.PathValue(name), 1)
	}
	return route
}

// CountBox returns the name that the limiter counts a box under. If a gateway calls for the box, the call counts for
// both. The gateway's own count comes first, and only boxes that the gateway may call for are counted. So made-up ids
// get no counter.
func (c *Call) CountBox(ctx context.Context, box auth.Principal) (subject string, err error) {
	if boxtoken.KindOf(c.token) == boxtoken.Gateway && c.limiter != nil {
		if err := admission.Wait(ctx); err != nil {
			return "", err
		}
		if _, c.calls, err = c.limiter.Admit(ctx, box, c.op.Limit); err != nil {
			return "", err
		}
	}
	return ratelimit.Subject(box.Counted()), nil
}

// Settled is the answer of a call that changes what boxes are told, once no container answers a poll from what it read before
// the change was committed; see setting.SettleSeconds. A call that found nothing to change waits, too: another call may have
// made the change a moment ago.
func (c *Call) Settled(answer lambdahttp.Answer, err error) (lambdahttp.Answer, error) {
	if err == nil {
		err = c.Wait(c.settles())
	}
	return answer, err
}

// Unsettled is the answer of a change that does not wait, because a halt must not. It says until when boxes may still be told what
// was there before. now is after the commit.
func (c *Call) Unsettled(answer lambdahttp.Answer, now time.Time) lambdahttp.Answer {
	if d := c.settles(); d > 0 {
		answer.Header = http.Header{lambdahttp.Warning: {"Until " + timestamp.Text(now.Add(d)) + ", a box that polls may still be told what was there before."}}
	}
	return answer
}

func (c *Call) settles() time.Duration {
	return time.Duration(c.Reader.Settings.Number(setting.SettleSeconds)) * time.Second
}

// Calls are when the box made its latest calls, once the limiter has decided; see ratelimit.Result. For a box of a gateway,
// CountBox comes first. Nil: unknown.
func (c *Call) Calls(ctx context.Context) []time.Time {
	if admission.Wait(ctx) != nil {
		return nil
	}
	return c.calls
}

// Origin is the call's part of an audit event.
func (c *Call) Origin() audit.Origin {
	return audit.Origin{
		Actor:    audit.Actor{Issuer: c.Caller.Issuer, UserID: c.Caller.UserID, Roles: c.Caller.Roles},
		SourceIP: c.SourceIP, RequestID: c.RequestID,
	}
}

// A Handler answers one operation, given what its row reads of the request, with an Answer, or with an error that
// package problem turns into a document. It runs in parallel with the limiter. It may read immediately, and its context ends if the call is refused. Its writes
// through package change wait until the call is admitted.
type Handler[T any] func(*Call, T) (lambdahttp.Answer, error)

// read reads what every request of the operation may have, and returns all faults of the request.
func (c *Call) read() error {
	if c.op.Takes.Anything {
		return nil
	}
	if c.op.Takes.Conditions {
		c.When = c.Reader.Preconditions()
	}
	key := ""
	if c.op.Takes.IdempotencyKey {
		key = c.Reader.IdempotencyKey()
	}
	if err := c.Reader.Err(); err != nil {
		return err
	}
	claim, err := idempotency.Of(c.Caller, c.op.ID, c.Route(), key, c.Reader.Said())
	c.Claim = claim
	return err
}

// A Limiter enforces the caller's fair-use limits. The returned headers are sent with every answer to the call.
type Limiter interface {
	// Recall returns an error if this container remembers that the call would be refused. It makes no network
	// call. Without an error, the decision is still open.
	Recall(caller auth.Principal, class ratelimit.Class) (http.Header, error)
	// Admit counts a call, and returns an error if the call is not admitted. If the caller is a box, it returns when that made its
	// latest calls, the newest first; nil: unknown.
	Admit(ctx context.Context, caller auth.Principal, class ratelimit.Class) (http.Header, []time.Time, error)
	// Share counts a call of a box also for the organization of its row, which its token does not name.
	Share(ctx context.Context, caller auth.Principal, organization string, class ratelimit.Class) error
}

// New makes the handler of an operation's calls: it finds out who calls, asks the limiter, checks the role and
// lets handle answer. Without a limiter no call can change anything.
func New[T any](row operations.Row[T], limiter Limiter, env lambdahttp.Env, handle Handler[T]) lambdahttp.Handler {
	op := row.Operation
	a := admitter{op, limiter, func(c *Call) (lambdahttp.Answer, error) {
		in := c.Reader
		in.Settings, in.Now, in.Organization, in.Box = env.Settings, env.Now(), c.Caller.OrganizationID, c.Caller.Has(auth.Edge)
		value := row.Read(in)
		if err := c.read(); err != nil {
			return lambdahttp.Answer{}, err
		}
		return handle(c, value)
	}}
	return func(technical *lambdahttp.Call) (lambdahttp.Answer, error) {
		caller, err := auth.FromContext(technical.Authorizer)
		if err != nil {
			return lambdahttp.Answer{}, problem.Wrap(err, problem.Unauthenticated, problem.NoValidToken)
		}
		call := &Call{Call: technical, Caller: boxtoken.CallerFor(caller, technical.Request.PathValue(operations.Controller)), token: caller, limiter: limiter, op: op}
		call.Attributes = []slog.Attr{
			slog.String("issuer", call.Caller.Issuer),
			slog.String("userId", call.Caller.UserID),
			slog.String("organizationId", call.Caller.OrganizationID),
		}
		if call.Caller.Expired(env.Now()) {
			// The gateway may cache the authorizer's answer for longer than the token is valid.
			return lambdahttp.Answer{}, problem.New(problem.Unauthenticated, "The access token has expired.")
		}
		return a.answer(call)
	}
}

// An admitter answers the calls that the limiter and the operation's roles admit.
type admitter struct {
	op      operations.Operation
	limiter Limiter
	handle  func(*Call) (lambdahttp.Answer, error)
}

// answer runs the handler in parallel with the limiter, and waits for both. A refusal by the limiter always wins.
// It ends the handler's reads, and the handler has written nothing, because its writes wait for the limiter too.
// If the container remembers the refusal, the handler does not run. The role is checked in parallel with the
// limiter too, so that forbidden calls count.
func (a admitter) answer(call *Call) (lambdahttp.Answer, error) {
	allowed := call.Caller.Has(a.op.Roles...)
	answer := func() (answer lambdahttp.Answer, err error) {
		err = lambdahttp.Recovered(func() error {
			if !allowed {
				return forbidden(a.op)
			}
			answer, err = a.handle(call)
			return err
		})
		return answer, err
	}
	if a.limiter == nil {
		return answer()
	}
	class := a.op.Limit
	if class == ratelimit.Reserved && !allowed {
		class = ratelimit.Ordinary // the reserve is only for callers that have the role
	}
	decision, ctx, cancel := a.ask(call, class)
	defer cancel()
	if decision.Refused() || a.op.Limit == ratelimit.Copilot {
		// A forwarded call cannot be undone, so it waits until the call is admitted.
		if err := decision.Wait(); err != nil {
			call.Header = decision.Header()
			return lambdahttp.Answer{}, err
		}
	}
	ctx = decision.Context(ctx)
	if call.token.Has(auth.Edge) && call.token.OrganizationID == "" {
		counting := ctx
		ctx = admission.Sharing(ctx, func(organization string) error {
			if err := decision.Wait(); err != nil { // a box above its own limit takes nothing of its organization's
				return err
			}
			return a.limiter.Share(counting, call.token, organization, class)
		})
	}
	call.Request = call.Request.WithContext(ctx)
	got, err := answer()
	refusal := decision.Wait()
	call.Header = decision.Header()
	if refusal != nil {
		return lambdahttp.Answer{}, refusal
	}
	return got, err
}

// ask asks the limiter to admit a call. The context ends if the call is refused.
func (a admitter) ask(call *Call, class ratelimit.Class) (*admission.Admission, context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(call.Context())
	end := func() { cancel(nil) }
	var known http.Header
	err := lambdahttp.Recovered(func() (err error) {
		known, err = a.limiter.Recall(call.token, class)
		return err
	})
	if err != nil {
		return admission.Refuse(known, err), ctx, end
	}
	outer := call.Context()
	return admission.Ask(func() (header http.Header, err error) {
		err = lambdahttp.Recovered(func() error {
			header, call.calls, err = a.limiter.Admit(outer, call.token, class)
			return err
		})
		if err != nil {
			cancel(err)
		}
		return header, err
	}), ctx, end
}

// forbidden does not say which roles are allowed.
func forbidden(op operations.Operation) error {
	return problem.New(problem.Forbidden, "Your roles do not allow the operation %s.", op.ID)
}
