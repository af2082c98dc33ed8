package method

import (
	"fmt"
	"slices"

	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/factory"
	"wavegate/shared/trail/audit"
)

// Unsigned says what is wrong with the signatures of a version, in whatever state it is: each is of its content, what holds was
// approved, each decision was signed, and no author approved it unless the decision records that one person was enough, as
// the factory's rule says.
func (v Version) Unsigned(rule factory.ApprovalPolicy) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	approved := v.Status != Trial && v.Status != Released
	for _, s := range v.Signatures {
		if s.ContentSHA256 != v.ContentSHA256 {
			add("the %s is of the content %s, and the version has %s", s.Meaning, s.ContentSHA256, v.ContentSHA256)
		}
		approved = approved || s.Meaning == Approval
	}
	if !approved {
		add("it is %s, and nobody approved it", v.Status)
	}
	for _, d := range v.Decisions {
		i := slices.IndexFunc(v.Signatures, func(s Signature) bool { return s.At.Equal(d.At) })
		if i < 0 {
			add("nobody signed its decision %s of %s", d.Status, timestamp.Text(d.At))
			continue
		}
		by := audit.Person{Issuer: v.Signatures[i].Issuer, UserID: v.Signatures[i].UserID}
		if d.Status != Withdrawn && slices.Contains(v.Authors, by) && (d.Rule != factory.Single || rule != factory.Single) {
			add("its author %s approved it; it records the rule %q, and the factory has %q", by.UserID, d.Rule, rule)
		}
	}
	return wrong
}
