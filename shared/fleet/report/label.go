package report

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"wavegate/shared/platform/input"
)

// A box may say the name of its release in other words: in quotes, with a leading v, with its own build. Such a text is a label.
// What it means is decided once, when the box says it; see decide.Means. The row keeps both, as Label and Running.

// A Form says which labels are good for the boxes of an edge type. Without one, none is: a box with a label is mislabelled. It
// counts as running the release, and not as having lived on with it.
type Form string

// Forms.
const (
	// Alike labels are the name in quotes, in other letters, with a leading v, or with _ or - for a dot.
	Alike Form = "alike"
	// IgnoreBuild labels may also have other build metadata or another epoch, as 1.4.0+7 and 1:1.4.0.
	IgnoreBuild Form = "ignoreBuild"
)

// Exact is what people say for no form.
const Exact = "exact"

// FormRule accepts a form, or that there is none.
var FormRule = &input.Text{Pattern: `exact|alike|ignoreBuild`, Says: "exact, alike or ignoreBuild"}

// Covers reports whether labels that need another form are good.
func (f Form) Covers(needed Form) bool { return needed == "" || f == needed || f == IgnoreBuild }

var (
	leading = regexp.MustCompile(`^(v[. ]?)+(.)`)
	dots    = strings.NewReplacer("_", ".", "-", ".")
	build   = regexp.MustCompile(`^[0-9]+:|\+.*$`)
)

// alike is the same for texts that are Alike, and core for those that IgnoreBuild makes the same.
func alike(text string) string {
	text = strings.Trim(text, " \t\"'`“”„‘’«»")
	return leading.ReplaceAllString(dots.Replace(strings.ToLower(text)), "$2")
}

func core(text string) string {
	text = alike(text)
	return cmp.Or(alike(build.ReplaceAllString(text, "")), text)
}

// HasBuild reports whether a name has build metadata or an epoch.
func HasBuild(name string) bool { return core(name) != alike(name) }

// Meant finds the only one of some names that a label may mean, and the form that this needs; empty: there is none.
func Meant(label string, names []string) (name string, needs Form) {
	if name, found := only(label, names, alike); found {
		return name, Alike
	}
	name, _ = only(label, names, core)
	return name, IgnoreBuild
}

// only returns the name that has something in common with a label; empty: there are several. It reports whether there is any.
func only(label string, names []string, common func(string) string) (name string, found bool) {
	for _, n := range names {
		switch {
		case n == "" || n == name || common(n) != common(label):
		case found:
			return "", true
		default:
			name, found = n, true
		}
	}
	return name, found
}

// Says is what the box last said it runs, in its own words.
func (r Row) Says() string { return cmp.Or(r.Label, r.Running) }

// MayMean are the names that a label of the box may mean, as far as the row says.
func (r Row) MayMean() []string {
	names := []string{r.Told}
	if r.Offer != nil {
		names = append(names, r.Offer.Version)
	}
	if r.Stone != nil {
		names = append(names, r.Stone.Version, r.Stone.Towards, r.Stone.Ran)
	}
	if r.Pin != nil {
		names = append(names, r.Pin.Version)
	}
	return names
}

// Runs notes what the box says it runs, and what that means.
func (r *Row) Runs(name, text string) {
	if name == "" {
		return
	}
	r.Running, r.Label, r.Assumed = name, "", false
	if text != name {
		r.Label = text
	}
}

// Mislabelled is the form without which the box is mislabelled; empty: it is not.
func (r Row) Mislabelled() Form {
	if r.Label == "" {
		return ""
	}
	_, needs := Meant(r.Label, []string{r.Running})
	return needs
}

// LabelSentence says to a person what the box says instead of its release's name, given the form of its edge type.
func (r Row) LabelSentence(form Form) string {
	text, needs := fmt.Sprintf(" It says `%s` for release %s.", input.Shown(r.Label), r.Running), r.Mislabelled()
	if !form.Covers(needs) {
		text += fmt.Sprintf(" That is no proof that it lived on with it, unless versionForm of its edge type is %s.", needs)
	}
	return text
}
