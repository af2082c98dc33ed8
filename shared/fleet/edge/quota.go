package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// Ids are one namespace, and whoever registers one first has it. Quotas bound how many of them a stolen token can take.

// Quotas bound registrations. Without them, nothing is counted.
type Quotas struct {
	Boxes int // of an organization
	Daily int // registrations a day of one caller who may only register new boxes
}

// QuotaSettings are those of ReadQuotas.
var QuotaSettings = []setting.Name{setting.EdgesPerOrganization, setting.RegistrationsPerDay}

// ReadQuotas reads the settings of the quotas.
func ReadQuotas(r *setting.Values) Quotas {
	return Quotas{Boxes: r.Number(setting.EdgesPerOrganization), Daily: r.Number(setting.RegistrationsPerDay)}
}

// A Registrar is who registrations count for, besides the organization; empty: nobody. It is made of a hash, because an
// enrolment keeps it.
type Registrar string

// RegistrarOf is the registrar of a caller who may only register new boxes. Admins and platform owners have none.
func RegistrarOf(caller auth.Principal) Registrar {
	if !onlyNew(caller) {
		return ""
	}
	sum := sha256.Sum256([]byte(caller.User()))
	return Registrar(hex.EncodeToString(sum[:8]))
}

const (
	// recounts is how often an organization is counted until it is full, so that a wrong tally is soon right. A count reads
	// all boxes.
	recounts = 100
	// fullFor is how long a full organization is not counted again.
	fullFor = time.Minute
	// tallyKept is how long a tally is kept after the last registration.
	tallyKept = 35 * 24 * time.Hour
	// mostStale bounds the numbers of earlier days in a tally.
	mostStale = 20
	// registrarPrefix begins the attribute with a registrar's number of a day.
	registrarPrefix = "by"
)

// A tally is an organization's counter of registrations, an item in the table of rate counters. N is about how many boxes
// the organization has. Registrations raise it outside their transactions, so they do not conflict, and only a count of
// the boxes lowers it. The item also has the numbers of registrars, by day.
type tally struct {
	N         int   `json:"n"`
	CountedAt int64 `json:"countedAt"` // in milliseconds
}

// Within makes the registry keep quotas.
func (r *Registry) Within(q Quotas) *Registry {
	r.quotas = q
	return r
}

// Arrivals are the boxes that one call adds to organizations.
type Arrivals struct {
	by      Registrar
	entered bool
}

// ArrivalsBy makes Arrivals of a registrar.
func ArrivalsBy(by Registrar) *Arrivals { return &Arrivals{by: by} }

// Enter counts some changes of boxes, and returns CONFLICT if an organization would have too many, and RATE_LIMITED if
// the registrar has registered too many today. A call whose change is tried again counts once. A change that fails is
// counted, too.
func (r *Registry) Enter(ctx context.Context, a *Arrivals, boxes ...Edge) error {
	if r.quotas == (Quotas{}) || a.entered {
		return nil
	}
	numbers := map[string]int{}
	for _, next := range boxes {
		numbers[next.OrganizationID]++
	}
	for organizationID, n := range numbers {
		a.entered = true
		if err := r.enter(ctx, organizationID, a.by, n); err != nil {
			return err
		}
	}
	return nil
}

// arrives reports whether a change adds a box to an organization.
func arrives(was, next Edge) bool {
	return next.Exists() && (!was.Exists() || was.OrganizationID != next.OrganizationID)
}

func (r *Registry) enter(ctx context.Context, organizationID string, by Registrar, n int) error {
	now := r.db.Now()
	key := dynamo.Key{"subject": dynamo.BoxTally(organizationID)}
	update, when := "SET #ttl = if_not_exists(#keep, :ttl) ADD #n :k", dynamo.Condition{}
	values := map[string]any{":ttl": now.Add(tallyKept).Unix(), ":k": n}
	today := registrarPrefix + now.Format("20060102")
	if by != "" {
		own := "#" + today + string(by)
		update += ", " + own + " :k"
		when.Expr, values[":room"] = "(attribute_not_exists("+own+") AND :room >= :none) OR "+own+" <= :room", r.quotas.Daily-n
		values[":none"] = 0
	}
	var item map[string]any
	counted, err := r.db.Tally(ctx, dynamo.RateCounters, key, update, values, when, &item)
	if err != nil {
		return err
	}
	if !counted {
		return tooMany(r.quotas.Daily, now)
	}
	var stale []string
	for name := range item {
		if strings.HasPrefix(name, registrarPrefix) && !strings.HasPrefix(name, today) {
			stale = append(stale, "#"+name)
		}
	}
	if len(stale) > mostStale {
		if _, err := r.db.Tally(ctx, dynamo.RateCounters, key, "REMOVE "+strings.Join(stale, ", "), nil, dynamo.Condition{}, &item); err != nil {
			return err
		}
	}
	number := func(name string) int { f, _ := item[name].(float64); return int(f) }
	return r.fits(ctx, organizationID, key, tally{number("n"), int64(number("countedAt"))}, n)
}

// fits returns CONFLICT if an organization has too many boxes with the n that its tally has counted last. At first, now and
// then, and if the tally is full, it counts the boxes in an index that lags by a moment.
func (r *Registry) fits(ctx context.Context, organizationID string, key dynamo.Key, is tally, n int) error {
	most, now := r.quotas.Boxes, r.db.Now()
	step := max(most/recounts, 1)
	full := is.N > most
	if !full && is.CountedAt > 0 && is.N/step == (is.N-n)/step {
		return nil
	}
	if full && now.Sub(time.UnixMilli(is.CountedAt)) < fullFor {
		return tooManyBoxes(most)
	}
	has, err := r.db.Count(ctx, dynamo.Selection{Table: dynamo.Edges, Index: "byOrganization", Partition: organizationID})
	if err != nil {
		return err
	}
	values, when := map[string]any{":n": has, ":at": now.UnixMilli()}, dynamo.Condition{}
	if full = has+n > most; !full {
		// Others that have registered boxes meanwhile are not in the count. Then a later call counts.
		values[":n"], when = has+n, dynamo.Condition{Expr: "#n = :was", Values: map[string]any{":was": is.N}}
	}
	_, err = r.db.Tally(ctx, dynamo.RateCounters, key, "SET #n = :n, #countedAt = :at", values, when, &tally{})
	if err == nil && full {
		err = tooManyBoxes(most)
	}
	return err
}

func tooManyBoxes(most int) error {
	return problem.New(problem.Conflict, "An organization may have at most %d boxes, and this one would have more. "+
		"Retire boxes, or ask a platform owner for a higher edgesPerOrganization.", most)
}

func tooMany(daily int, now time.Time) error {
	return problem.Daily(now, "registrations", "Exceeded: registrations (%d a day, until midnight UTC). "+
		"Let an admin register more, or ask a platform owner for a higher registrationsPerDay.", daily)
}
