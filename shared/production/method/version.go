package method

import (
	"slices"
	"strconv"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
	"wavegate/shared/trail/audit"
)

// A Status is the status of a version.
type Status string

// Statuses.
const (
	Draft     Status = "draft"     // can be saved
	InReview  Status = "in_review" // frozen, waits for a second person
	Trial     Status = "trial"     // holds on some machines
	Released  Status = "released"  // holds on all machines
	Withdrawn Status = "withdrawn" // never holds again
)

// Statuses lists all statuses.
var Statuses = []Status{Draft, InReview, Trial, Released, Withdrawn}

// open reports whether a version is still being written or reviewed. A method has at most one open
// version.
func (s Status) open() bool { return s == Draft || s == InReview }

// words is the status after "Version 5 is", for people.
func (s Status) words() string {
	return map[Status]string{Draft: "a draft", InReview: "in review", Trial: "on trial", Released: "released", Withdrawn: "withdrawn"}[s]
}

// A Meaning says what a signature means.
type Meaning string

// Meanings.
const (
	Authorship     Meaning = "authorship"     // of the person who submits
	Approval       Meaning = "approval"       // of the person who puts on trial or releases
	Responsibility Meaning = "responsibility" // of the person who withdraws
)

// A Signature says who is responsible for a move of a version, and for which content.
type Signature struct {
	Meaning Meaning `json:"meaning"`
	// Further is set if the signature supports the last change and changed nothing else.
	Further         bool       `json:"further,omitempty"`
	Name            string     `json:"name,omitempty"` // from the token
	Issuer          string     `json:"issuer"`
	UserID          string     `json:"userId"`
	At              time.Time  `json:"at"`
	AuthenticatedAt *time.Time `json:"authenticatedAt,omitempty"` // when the person last signed in
	Reason          string     `json:"reason"`
	ContentSHA256   string     `json:"contentSha256"`
}

// A Signer is the person who makes a move.
type Signer struct {
	audit.Person
	Name            string
	AuthenticatedAt *time.Time
}

// A FirstArticle refers to the inspection record of the first part that was made.
type FirstArticle struct {
	Reference string `json:"reference"`
	SHA256    string `json:"sha256,omitempty"`
}

// Orders says what happens to orders under way when a version is withdrawn.
type Orders string

// Values of Orders.
const (
	Finish Orders = "finish"
	Stop   Orders = "stop"
)

// Equipment is the equipment of a content's steps. An order for a machine concerns the content
// if the machine is in Machines or has one of Classes.
type Equipment struct {
	Classes  []string `json:"classes,omitempty"`
	Machines []string `json:"machines,omitempty"`
}

// names reports whether a machine can do a step now, whether or not an approval covers it.
func (e Equipment) names(m machine.Machine) bool {
	return m.Scrapped == nil && (slices.Contains(e.Machines, m.Code) ||
		slices.ContainsFunc(e.Classes, func(class string) bool { return slices.Contains(m.Classes, class) }))
}

// named reports whether a machine could do a step at some moment from one number of the factory to another.
func (e Equipment) named(m machine.Machine, from, to int64) bool {
	return slices.Contains(e.Machines, m.Code) ||
		slices.ContainsFunc(e.Classes, func(class string) bool { return m.Had(class, from, to) })
}

// A Version is one numbered version of a method. Its content is stored separately, by its hash.
type Version struct {
	MethodID      string    `json:"methodId"`
	FactoryID     string    `json:"factoryId"`
	Version       int64     `json:"version"` // from 1, without gaps
	Status        Status    `json:"status"`
	ContentSHA256 string    `json:"contentSha256"`
	ContentBytes  int       `json:"contentBytes"`
	Equipment     Equipment `json:"equipment"`
	// Authors are the people who saved or submitted it, in the order of their first action.
	Authors []audit.Person `json:"authors"`
	// Signatures holds the signatures of the present content. A return to draft removes them; the audit trail keeps them
	// all.
	Signatures   []Signature   `json:"signatures,omitempty"`
	FirstArticle *FirstArticle `json:"firstArticle,omitempty"`
	// ReleasedFrom is when the version begins to hold on all machines, according to its last release.
	ReleasedFrom *time.Time `json:"releasedFrom,omitempty"`
	Orders       Orders     `json:"orders,omitempty"` // of a withdrawn version
	// Decisions are all approvals and withdrawals of the version, in their order. They say which machines could have it
	// at which time.
	Decisions []Decided `json:"decisions,omitempty"`
	// Park is how many machines the factory had at the last decision, as it had counted them.
	Park      int64     `json:"park,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Revision  int64     `json:"revision"` // from 1
	dynamo.Unknown
}

// ID names the version in the audit trail and to controllers: the id of its method, a colon, and
// its number.
func (v Version) ID() string { return WorkMasterID(v.MethodID, v.Version) }

// WorkMasterID is the name of a version in orders, in the form of ISA-95 job control for OPC UA
// and of BatchML.
func WorkMasterID(methodID string, version int64) string {
	return methodID + ":" + strconv.FormatInt(version, 10)
}

// These limits keep the item of a version small.
const (
	maxAuthors    = 50
	maxSignatures = 16
	mostSigned    = maxSignatures + 8 // with the release and the withdrawals
)

// saved decides the result of saving a content as a version. A draft accepts it; the same content again changes
// nothing. With every later status it returns VERSION_FROZEN.
func (v Version) saved(c content.Content, author audit.Person, at time.Time) (next Version, event string, err error) {
	if v.Revision > 0 && v.Status != Draft {
		advice := "Save the content as a new version."
		if v.Status == InReview { // a method has at most one open version
			advice = "Return it to draft first."
		}
		return v, "", problem.New(problem.VersionFrozen, "Version %d is %s, and only a draft can be saved. %s", v.Version, v.Status.words(), advice)
	}
	if v.Revision > 0 && v.ContentSHA256 == c.SHA256() {
		return v, "", nil
	}
	next = v
	next.Status = Draft
	next.ContentSHA256, next.ContentBytes = c.SHA256(), len(c.Bytes())
	next.Equipment = Equipment{Classes: c.Classes(), Machines: c.Machines()}
	if next.Authors, err = v.authors(author); err != nil {
		return v, "", err
	}
	return next.changed(v, at), "ProductionMethodVersionSaved", nil
}

// authors returns the version's authors and one more person.
func (v Version) authors(p audit.Person) ([]audit.Person, error) {
	if slices.Contains(v.Authors, p) {
		return v.Authors, nil
	}
	if len(v.Authors) == maxAuthors {
		return nil, problem.New(problem.Conflict, "%d people have worked on this version, which is the maximum. Withdraw it and begin a new one.", maxAuthors)
	}
	return append(slices.Clone(v.Authors), p), nil
}

func (v Version) changed(was Version, at time.Time) Version {
	v.Revision = was.Revision + 1
	v.UpdatedAt = at
	if was.Revision == 0 {
		v.CreatedAt = at
	}
	return v
}
