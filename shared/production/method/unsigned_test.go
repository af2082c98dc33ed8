package method_test

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/production/factory"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

func TestUnsigned_SaysWhatIsWrongWithTheSignatures(t *testing.T) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		rule   factory.ApprovalPolicy
		change func(v *method.Version)
		want   string
	}{
		"nothing":                     {factory.FourEyes, func(*method.Version) {}, ""},
		"another content":             {factory.FourEyes, func(v *method.Version) { v.Signatures[1].ContentSHA256 = "b" }, "the approval is of the content b, and the version has a"},
		"no approval":                 {factory.FourEyes, func(v *method.Version) { v.Signatures[1].Meaning = method.Authorship }, "it is released, and nobody approved it"},
		"a decision of another time":  {factory.FourEyes, func(v *method.Version) { v.Decisions[0].At = at.Add(time.Hour) }, "nobody signed its decision released of 2026-03-02T09:00:00.000Z"},
		"an author":                   {factory.FourEyes, func(v *method.Version) { v.Signatures[1].UserID = "eric" }, `its author eric approved it; it records the rule "four-eyes", and the factory has "four-eyes"`},
		"an author, as only it says":  {factory.FourEyes, func(v *method.Version) { v.Signatures[1].UserID, v.Decisions[0].Rule = "eric", factory.Single }, `its author eric approved it; it records the rule "single", and the factory has "four-eyes"`},
		"an author, by the rule":      {factory.Single, func(v *method.Version) { v.Signatures[1].UserID, v.Decisions[0].Rule = "eric", factory.Single }, ""},
		"an author of the same name":  {factory.FourEyes, func(v *method.Version) { v.Signatures[1].UserID, v.Signatures[1].Issuer = "eric", "another" }, ""},
		"a draft without a signature": {factory.FourEyes, func(v *method.Version) { v.Status, v.Signatures, v.Decisions = method.Draft, nil, nil }, ""},
		"an author who withdrew":      {factory.FourEyes, func(v *method.Version) { v.Signatures[1].UserID, v.Decisions[0].Status = "eric", method.Withdrawn }, ""},
	} {
		v := method.Version{Status: method.Released, ContentSHA256: "a", Authors: []audit.Person{{Issuer: "i", UserID: "eric"}},
			Signatures: []method.Signature{{Meaning: method.Authorship, Issuer: "i", UserID: "eric", ContentSHA256: "a", At: at.Add(-time.Hour)},
				{Meaning: method.Approval, Issuer: "i", UserID: "anna", ContentSHA256: "a", At: at}},
			Decisions: []method.Decided{{Status: method.Released, At: at, Rule: factory.FourEyes}}}
		c.change(&v)
		expect.Equal(t, strings.Join(v.Unsigned(c.rule), "; "), c.want, "%s:", name)
	}
}
