// Command lists measures what lists cost: it fills a factory with machines through the domain's own
// code, on Amazon's DynamoDB Local, and prints for each kind of page the requests and the read units
// that it took, the look at the factory included, as a table in Markdown. The limiter's share is left
// out: it is the same for every call.
//
//	./scripts/bench lists
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
	"wavegate/shared/platform/request"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
)

const factoryID = "munich-1"

var engineer = auth.Principal{Issuer: "https://people.example", UserID: "eric", OrganizationID: "acme",
	Roles: []auth.Role{auth.ProductionEngineer}}

func main() {
	machines := flag.Int("machines", 10_000, "how many machines the factory has, 1000 or more")
	flag.Parse()
	if err := run(context.Background(), *machines); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n int) error {
	s, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, t := range dynamo.Tables {
		if err := os.Setenv(t.ID.EnvName(), dynamolocal.TableName(t.ID)); err != nil {
			return err
		}
	}
	if err := dynamolocal.CreateTables(ctx, s.Client()); err != nil {
		return err
	}
	m := &meter{API: s.Client()}
	db := dynamo.Open(m, time.Now)
	fmt.Fprintf(os.Stderr, "registering %d machines\n", n)
	if err := fill(ctx, db, n); err != nil {
		return err
	}
	rows := measure(ctx, m, db, n)
	fmt.Printf("| %-53s | items | requests | read units |\n|%s|------:|---------:|-----------:|\n", "page", strings.Repeat("-", 55))
	for _, r := range rows {
		if r.err != nil {
			return fmt.Errorf("%s: %w", r.name, r.err)
		}
		fmt.Printf("| %-53s | %5d | %8d | %10.1f |\n", r.name, r.items, r.requests, r.units)
	}
	return nil
}

// fill registers the factory and its machines as the service does, each with its audit event.
func fill(ctx context.Context, db *dynamo.DB, n int) error {
	from := audit.Origin{SourceIP: "192.0.2.7", RequestID: "6615f846-3810-5b14-9ed8-5ffd5284f25b",
		Actor: audit.Actor{Issuer: engineer.Issuer, UserID: engineer.UserID, Roles: engineer.Roles}}
	if _, err := factory.NewStore(db).Put(admission.Unlimited(ctx), from, factoryID, factory.Registration{OrganizationID: "acme", Name: "Munich 1"}, request.Preconditions{}); err != nil {
		return err
	}
	machines := machine.NewStore(db)
	writers, ctx := errgroup.WithContext(ctx)
	writers.SetLimit(8)
	for i := range n {
		writers.Go(func() error {
			code, name := fmt.Sprintf("press-%05d", i), fmt.Sprintf("Press %d, hall %d", i, i%7)
			created, err := machines.Put(admission.Unlimited(ctx), engineer, from, factoryID, code, machine.Registration{Name: name}, request.Preconditions{})
			if err == nil && !created {
				err = errors.New("there is already a machine " + code)
			}
			return err
		})
	}
	return writers.Wait()
}

// A row is what one kind of page took.
type row struct {
	name            string
	items, requests int
	units           float64
	err             error
}

func measure(ctx context.Context, m *meter, db *dynamo.DB, n int) []row {
	machines, factories, trail := machine.NewStore(db), factory.NewStore(db), audit.NewLog(db)
	var rows []row
	take := func(name string, read func() (items int, err error)) {
		m.reset()
		items, err := read()
		requests, units := m.read()
		rows = append(rows, row{name, items, requests, units, err})
	}
	page := func(w dynamo.Window) func() (int, error) {
		return func() (int, error) {
			p, err := machines.List(ctx, engineer, factoryID, w)
			return len(p.Items), err
		}
	}
	take("machines, first page, limit 50", page(dynamo.Window{Limit: 50}))
	take("machines, first page, limit 100", page(dynamo.Window{Limit: 100}))
	for _, skip := range []int{100, 1000, 5000, 9900} {
		if skip < n {
			take(fmt.Sprintf("machines, offset %d, limit 100", skip), page(dynamo.Window{Skip: skip, Limit: 100}))
		}
	}
	take(fmt.Sprintf("machines, all %d walked by offset, limit 100", n), func() (items int, err error) {
		for w := (dynamo.Window{Limit: 100}); ; w.Skip += w.Limit {
			p, err := machines.List(ctx, engineer, factoryID, w)
			items += len(p.Items)
			if err != nil || !p.More {
				return items, err
			}
		}
	})

	events := func(f audit.Filter, after string) (dynamo.Page[audit.Event], error) {
		return factory.ReadInParallel(ctx, factories, engineer, factoryID, func(ctx context.Context) (dynamo.Page[audit.Event], error) {
			return trail.List(ctx, audit.Factory(factoryID), f, after, 100)
		})
	}
	walk := func(f audit.Filter, pages int) (items int, last string, err error) {
		for ; pages > 0; pages-- {
			p, err := events(f, last)
			items += len(p.Items)
			if err != nil || !p.More {
				return items, last, err
			}
			last = audit.Position(p.Items[len(p.Items)-1])
		}
		return items, last, nil
	}
	filtered := audit.Filter{ActorIssuer: engineer.Issuer, ActorUserID: engineer.UserID}
	for _, c := range []struct {
		name string
		f    audit.Filter
	}{
		{"audit events", audit.Filter{}},
		{"audit events by actor", filtered},
		{"audit events by resource", audit.Filter{ResourceType: machine.ResourceType, ResourceID: "press-00500"}},
	} {
		take(c.name+", first page, limit 100", func() (int, error) { items, _, err := walk(c.f, 1); return items, err })
	}
	_, deep, err := walk(audit.Filter{}, n/100-1)
	take(fmt.Sprintf("audit events behind %d others, by cursor, limit 100", n-100), func() (int, error) {
		if err != nil {
			return 0, err
		}
		p, err := events(audit.Filter{}, deep)
		return len(p.Items), err
	})
	take(fmt.Sprintf("audit events, all %d walked by cursor, limit 100", n), func() (int, error) {
		items, _, err := walk(audit.Filter{}, n)
		return items, err
	})
	return rows
}
