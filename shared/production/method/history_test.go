package method

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
)

// rules are the rules that a history uses: the package's own, or rules with a planted bug.
type rules struct {
	move  func(m Method, v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error)
	at    func(e Effectivity, machine string, t time.Time) (Decision, bool)
	after func(e Effectivity, at time.Time) Effectivity // the effectivity that is stored
}

func ownRules() rules {
	return rules{
		move:  Method.Move,
		at:    Effectivity.At,
		after: func(e Effectivity, _ time.Time) Effectivity { return e },
	}
}

// A ruling is a decision for one machine in the book. The book never removes a ruling. It only ends it.
type ruling struct {
	version int64
	trial   bool
	from    time.Time
	ends    time.Time // zero means no end
}

// A history makes random moves of a few people on one method. It keeps its own book of who saved what, who read what
// before approving, and every decision. The book does not use the package's rules.
type history struct {
	rules    rules
	random   *rand.Rand
	policy   factory.ApprovalPolicy
	now      time.Time
	method   Method
	versions map[int64]Version
	read     map[string]map[int64]string // by person: the content of each version that they read last

	book      map[string][]ruling // by machine, in the order of precedence
	authors   map[int64][]audit.Person
	approved  map[string]bool     // version and content that someone else read and approved
	released  map[int64]time.Time // from when on, by the last release
	withdrawn map[int64]bool
	seen      []observation
	most      int  // the highest number of decisions at once
	stored    bool // whether to compare what would be stored, which is slow
}

// An observation is an answer about a machine at the time when it was given.
type observation struct {
	at      time.Time
	machine string
	version int64
}

var (
	// The machine untried never has a trial.
	machines = []string{"a", "b", "c", "untried"}
	people   = []Signer{author, other, {Person: audit.Person{Issuer: "https://people.example", UserID: "olaf"}}}
	contents = []content.Content{made("a"), made("b"), made("c")}
)

func newHistory(r rules, seed uint64) *history {
	random := rand.New(rand.NewPCG(seed, 16))
	h := &history{
		rules: r, random: random, policy: factory.FourEyes, now: start,
		method:   Creation{"p", "n"}.create("m", "f", start),
		versions: map[int64]Version{}, read: map[string]map[int64]string{}, authors: map[int64][]audit.Person{},
		stored: seed%16 == 0, approved: map[string]bool{}, released: map[int64]time.Time{}, withdrawn: map[int64]bool{}, book: map[string][]ruling{},
	}
	if random.IntN(5) == 0 {
		h.policy = factory.Single
	}
	for _, p := range people {
		h.read[p.UserID] = map[int64]string{}
	}
	return h
}

// step makes one move and returns what is wrong afterwards, or nothing.
func (h *history) step() string {
	h.now = h.now.Add(time.Duration(1+h.random.IntN(90)) * time.Minute)
	by := people[h.random.IntN(len(people))]
	latest := h.method.latest().Version
	switch number := latest - int64(h.random.IntN(3)); h.random.IntN(8) {
	case 0, 1:
		number = latest
		if !h.method.latest().Status.open() || h.random.IntN(8) == 0 {
			number++
		}
		return h.save(number, by)
	case 2, 3:
		h.read[by.UserID][number] = h.versions[number].ContentSHA256
	default:
		if number >= 1 {
			if fault := h.move(number, h.draw(number, by), by); fault != "" {
				return fault
			}
		}
	}
	return h.check()
}

func (h *history) save(number int64, by Signer) string {
	if number < 1 {
		return ""
	}
	o, err := h.method.Save(h.versions[number], number, contents[h.random.IntN(len(contents))], by.Person, h.now)
	if err == nil && o.Event != "" {
		h.method, h.versions[number] = o.Method, o.Version
		h.authors[number] = append(h.authors[number], by.Person)
		h.read[by.UserID][number] = o.Version.ContentSHA256
	}
	open := 0
	for _, v := range h.versions {
		if v.Status.open() {
			open++
		}
	}
	if open > 1 {
		return "two versions are open"
	}
	return h.check()
}

// draw makes a random move. Approvers name the content that they read last, which may have changed since.
func (h *history) draw(number int64, by Signer) Move {
	if h.random.IntN(2) == 0 {
		h.read[by.UserID][number] = h.versions[number].ContentSHA256
	}
	m := Move{Reason: "r", ContentSHA256: h.read[by.UserID][number]}
	m.Status = Statuses[h.random.IntN(len(Statuses))]
	if can := moves[h.versions[number].Status]; len(can) > 0 && h.random.IntN(4) > 0 {
		// Prefer moves towards a release.
		m.Status = can[min(h.random.IntN(len(can)), h.random.IntN(len(can)))]
		if m.Status == Draft {
			m.Status = Released
		}
	}
	switch m.Status {
	case Trial:
		m.Machines = slices.Clone(machines[h.random.IntN(2):][:1+h.random.IntN(2)])
	case Released:
		m.FirstArticle = &FirstArticle{Reference: "r"}
	case Withdrawn:
		m.ContentSHA256 = ""
		m.Orders = []Orders{"", Finish, Stop}[h.random.IntN(3)]
		if h.random.IntN(2) == 0 {
			m.Reinstate = int64(h.random.IntN(4))
		}
	}
	if (m.Status == Trial || m.Status == Released) && h.random.IntN(2) == 0 {
		m.EffectiveFrom = h.now.Add(time.Duration(h.random.IntN(400)-40) * time.Minute)
	}
	return m
}

func (h *history) move(number int64, m Move, by Signer) string {
	was := h.versions[number]
	o, err := h.rules.move(h.method, was, h.versions[m.Reinstate], m, by, h.policy, h.now)
	if m.Status == Withdrawn {
		if refused := h.refuses(number, m); refused != (err != nil) && len(was.Signatures) < maxSignatures {
			return fmt.Sprintf("a withdrawal was answered with %v, refused by the book: %v", err, refused)
		}
	}
	if err != nil {
		return ""
	}
	if fault := contradicts(o, m, by, h.now, machines...); fault != "" {
		return fmt.Sprintf("%+v of version %d: %s", m, number, fault)
	}
	if o.Event == "" {
		return ""
	}
	o.Method.Effectivity = h.rules.after(o.Method.Effectivity, h.now)
	for _, d := range o.Method.Effectivity {
		isNew := !slices.ContainsFunc(h.method.Effectivity, func(was Decision) bool { return was.Version == d.Version && was.From.Equal(d.From) })
		if isNew && d.From.Before(h.now) {
			return fmt.Sprintf("a decision about version %d began before it was made", d.Version)
		}
	}
	h.method, h.versions[number] = o.Method, o.Version
	if h.stored {
		if fault := storedAsShown(o); fault != "" {
			return fault
		}
	}
	switch m.Status {
	case InReview:
		h.authors[number] = append(h.authors[number], by.Person)
	case Trial, Released:
		h.approve(number, m, by, o.Event != cosigned)
	case Withdrawn:
		h.withdraw(number, m.Reinstate)
	}
	return ""
}

// storedAsShown returns the difference between an outcome as shown and as stored. The chain is made from the shown
// form, and recomputed from the stored one.
func storedAsShown(o Result) string {
	for name, v := range map[string]any{"method": o.Method, "version": o.Version} {
		item, err := dynamo.Encode(v)
		var kept map[string]any
		if err == nil {
			err = dynamo.Decode(dynamo.MethodVersions, item, &kept)
		}
		if err != nil {
			return err.Error()
		}
		stored, err := canonical.Encode(kept)
		if err != nil {
			return err.Error()
		}
		if shown, err := canonical.Encode(v); err != nil || string(stored) != string(shown) {
			return fmt.Sprintf("of the %s %s is stored, %s is shown (%v)", name, stored, shown, err)
		}
	}
	return ""
}

// approve records an approval if the approver may approve and has read the content. It records a
// decision, which replaces the version's decision of the same kind, if the move makes one.
func (h *history) approve(number int64, m Move, by Signer, decides bool) {
	stored := h.versions[number].ContentSHA256
	if (h.policy == factory.Single || !slices.Contains(h.authors[number], by.Person)) && h.read[by.UserID][number] == stored {
		h.approved[fmt.Sprint(number, stored)] = true
	}
	if !decides {
		return
	}
	from := h.now
	if m.EffectiveFrom.After(h.now) {
		from = m.EffectiveFrom
	}
	if m.Status == Released {
		h.released[number] = from
	}
	h.settle()
	for _, machine := range machines {
		for i := range h.book[machine] {
			if r := &h.book[machine][i]; r.version == number && r.trial == (m.Status == Trial) && r.ends.IsZero() {
				r.ends = h.now
			}
		}
		if len(m.Machines) == 0 || slices.Contains(m.Machines, machine) {
			h.book[machine] = append(h.book[machine], ruling{version: number, trial: len(m.Machines) > 0, from: from})
		}
	}
	h.settle()
}

// settle ends rulings that a later ruling replaces: a trial ends with any ruling, a release with
// a release.
func (h *history) settle() {
	for _, list := range h.book {
		for i := range list {
			r := &list[i]
			for _, later := range list[i+1:] {
				begun := !later.from.After(h.now) || !later.from.After(r.from)
				if r.ends.IsZero() && later.ends.IsZero() && begun && (r.trial || !later.trial) {
					r.ends = h.now
				}
			}
		}
	}
}

// refuses reports whether a withdrawal must be refused: it would let stopped orders finish, or
// asks for a version that cannot be reinstated.
func (h *history) refuses(number int64, m Move) bool {
	if h.versions[number].Orders == Stop && m.Orders == Finish {
		return true
	}
	left := h.left(number)
	if m.Reinstate == 0 || left == m.Reinstate {
		return false
	}
	begun, released := h.released[m.Reinstate]
	return left > 0 || !released || begun.After(h.now) || h.versions[m.Reinstate].Status != Released || m.Reinstate >= number
}

// left returns the version that would hold on all machines without another one, or 0.
func (h *history) left(without int64) int64 {
	h.settle()
	for _, r := range slices.Backward(h.book["untried"]) {
		if !h.now.Before(r.from) && r.ends.IsZero() && r.version != without {
			return r.version
		}
	}
	return 0
}

// withdraw ends all rulings about a version. If no version is left on all machines, an older one
// may hold again.
func (h *history) withdraw(number, instead int64) {
	left := h.left(number)
	h.withdrawn[number] = true
	for _, machine := range machines {
		list := h.book[machine]
		for i := range list {
			if r := &list[i]; r.version == number && r.ends.IsZero() {
				r.ends = h.now
			}
		}
		if instead > 0 && left != instead {
			h.book[machine] = slices.Insert(list, 0, ruling{version: instead, from: h.now})
		}
	}
}

// expected returns the version that holds on a machine at a time, according to the book.
func (h *history) expected(machine string, t time.Time) int64 {
	for _, r := range slices.Backward(h.book[machine]) {
		if !t.Before(r.from) && (r.ends.IsZero() || t.Before(r.ends)) {
			return r.version
		}
	}
	return 0
}

func (h *history) check() string {
	e := h.method.Effectivity
	h.most = max(h.most, len(e))
	if len(e) > maxDecisions {
		return fmt.Sprintf("%d decisions", len(e))
	}
	for _, machine := range machines {
		for _, t := range []time.Time{h.now, h.now.Add(time.Duration(h.random.IntN(600)) * time.Minute)} {
			d, _ := h.rules.at(e, machine, t)
			if want := h.expected(machine, t); d.Version != want {
				return fmt.Sprintf("machine %s at %s has %d, but %d according to the book", machine, t.Sub(start), d.Version, want)
			}
			if d.Version == 0 {
				continue
			}
			if h.withdrawn[d.Version] {
				return fmt.Sprintf("version %d holds after its withdrawal", d.Version)
			}
			if hash := h.versions[d.Version].ContentSHA256; d.ContentSHA256 != hash || !h.approved[fmt.Sprint(d.Version, hash)] {
				return fmt.Sprintf("version %d holds with content %.8s, but no authorized person read and approved it", d.Version, hash)
			}
		}
		h.seen = append(h.seen, observation{h.now, machine, h.expected(machine, h.now)})
	}
	if o := h.seen[h.random.IntN(len(h.seen))]; o.at.Before(h.now) && h.expected(o.machine, o.at) != o.version {
		return fmt.Sprintf("machine %s at %s: the answer was %d, and is now %d", o.machine, o.at.Sub(start), o.version, h.expected(o.machine, o.at))
	}
	return ""
}
