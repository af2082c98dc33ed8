package method_test

import (
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
func (l *lived) boxes() {
	var err error
	what, where := "returns", []string{"", l.box.elsewhere}[l.random.IntN(2)]
	switch n := l.random.IntN(6); {
	case !l.box.here:
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
		what = "leaves"
		must, may := l.holders()
		err = l.place(where, "")
		if refused := problem.Has(err, problem.Conflict); refused && !may || !refused && must {
			l.Fatalf("the box leaves: %v; a machine must have a version %v, may %v\n%s", err, must, may, strings.Join(l.log, "\n"))
		} else if refused {
			err = nil
		}
	}
	l.did("the box %s: %v", what, err)
	if err != nil {
		l.Fatalf("%v\n%s", err, strings.Join(l.log, "\n"))
	}
}

// holders reports whether a machine of the box must, or may, have a version.
func (l *lived) holders() (must, may bool) {
	for code := range l.box.names {
		for version := range l.hashes {
			m := l.model
			reported := len(m.orders[version][code]) > 0 || m.loaded[version][code]
			left, perhaps := m.left(version)
			must = must || reported && !m.confirmed[version][code] || m.withdrawn[version] && left[code]
			may = may || reported || perhaps[code]
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
