package method_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
)

// A boxed is the box of a life: where it is, and the machines that name it. Whatever becomes of it, a recall concerns the
// same machines.
type boxed struct {
	id, elsewhere string // the box, and another factory of the organization
	here          bool
	names         map[string]bool
	edges         *edge.Registry
}

var admin = auth.Principal{Issuer: "https://people.example", UserID: "ada", OrganizationID: "acme", Roles: []auth.Role{auth.OrganizationAdmin}}

func (l *lived) newBox() {
	l.box = boxed{id: "box-" + l.ref.FactoryID, elsewhere: uuid.NewString(), names: map[string]bool{}}
	l.box.edges = edge.NewRegistry(l.db, 1).Within(edge.Quotas{Boxes: 1e6, Daily: 1e6}).Leaving(l.methods.Leaves).For(admin)
	_, err := factory.NewStore(l.db).Put(l.ctx, origin, l.box.elsewhere, factory.Registration{OrganizationID: "acme", Name: "Another"}, input.Preconditions{})
	if err == nil {
		err = l.place(l.ref.FactoryID, "")
	}
	if err != nil {
		l.Fatal(err)
	}
}

// place puts the box in a factory, or in none.
func (l *lived) place(factoryID, signed string) error {
	_, err := l.box.edges.Put(l.ctx, origin, l.box.id, edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme",
		FactoryID: &factoryID, Departure: signed}, input.Preconditions{})
	if err == nil {
		l.box.here = factoryID == l.ref.FactoryID
	}
	return err
}

// named notes that a machine names the box.
func (l *lived) named(code string) { l.box.names[code] = true }

// boxes moves the box, retires or resets it, or brings it back. It leaves without a signature only if none of its machines
// has a version.
func (l *lived) boxes() action {
	what, where, n := "returns", []string{"", l.box.elsewhere}[l.random.IntN(2)], l.random.IntN(6)
	here, asks, names := l.box.here, false, maps.Clone(l.box.names)
	var err error
	return action{
		call: func() {
			switch {
			case !here:
				err = l.place(l.ref.FactoryID, "")
			case n == 0:
				what = "is retired"
				err = l.box.edges.Retire(l.ctx, origin, l.box.id, input.Preconditions{})
				l.box.here = false
			case n == 1:
				what = "is reset"
				err = l.box.edges.Reset(l.ctx, origin, l.box.id, edge.Enroller{ID: "e", OrganizationID: "acme", Names: true})
				l.box.here = false
			case n == 2:
				what = "leaves, signed"
				err = l.place(where, "sold")
			default:
				what, asks = "leaves", true
				err = l.place(where, "")
			}
			l.did("the box %s: %v", what, err)
		},
		then: func(m *model) string {
			refused := problem.Has(err, problem.Conflict)
			must, may := l.holders(m, names)
			switch {
			case asks && (refused && !may || !refused && must):
				return fmt.Sprintf("the box leaves: %v; a machine must have a version %v, may %v", err, must, may)
			case err != nil && !(asks && refused):
				return fmt.Sprint("the box ", what, ": ", err)
			}
			return ""
		},
	}
}

// holders reports whether one of the machines must, or may, have a version.
func (l *lived) holders(m *model, codes map[string]bool) (must, may bool) {
	for code := range codes {
		for version := range l.hashes {
			has, perhaps := m.has(version, code)
			left, listed := m.left(version)
			must = must || has && !m.confirmed[version][code] || m.withdrawn[version] && left[code]
			may = may || perhaps || listed[code] || m.crossed[version][code]
		}
	}
	return must, may
}

// elsewhere enters a machine with a known code in the other factory. It is another machine.
func (l *lived) elsewhere() {
	_, err := l.machines.Put(l.ctx, admin, origin, l.box.elsewhere, l.anyMachine(), machine.Registration{Name: "Another", Classes: lifeClasses}, input.Preconditions{})
	if err != nil {
		l.Fatal(err)
	}
}

// withoutBox compares which machines are shown as without a box with where the box is.
func (l *lived) withoutBox(version int64) {
	page, err := l.methods.Machines(l.ctx, engineer, l.at(version), false, nobodyHeard, dynamo.Span{Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	var wrong []string
	for _, x := range page.Items {
		if x.WithoutBox == (l.box.here && l.box.names[x.Machine]) {
			wrong = append(wrong, x.Machine)
		}
	}
	if len(wrong) > 0 {
		l.Fatalf("version %d: %v are wrongly shown with or without a box\n%s", version, slices.Compact(wrong), strings.Join(l.log, "\n"))
	}
}

// away lets a box report that is not in the factory: nothing is stored, and no machine takes it.
func (l *lived) away(code string, r method.Report) {
	if l.put(code, machine.Registration{EdgeID: &l.box.id}) {
		l.Fatalf("%s takes a box that is elsewhere\n%s", code, strings.Join(l.log, "\n"))
	}
	_, err := l.send(code, r)
	if !problem.Has(err, problem.NotFound) {
		l.Fatalf("a box that is elsewhere reports for %s: %v\n%s", code, err, strings.Join(l.log, "\n"))
	}
}
