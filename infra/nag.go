package main

import (
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// excuse tells cdk-nag that a construct, and what it is made of, breaks a rule on purpose, and why.
// findings, where given, narrow it to those findings of the rule.
func excuse(construct constructs.IConstruct, rule, reason string, findings ...string) {
	suppression := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}
	if len(findings) > 0 {
		list := make([]any, len(findings))
		for i, f := range findings {
			list[i] = f
		}
		suppression.AppliesTo = &list
	}
	cdknag.NagSuppressions_AddResourceSuppressions(construct, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}
