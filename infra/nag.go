package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// excuse tells cdk-nag why a construct, including its children, breaks a rule on purpose. If there are findings, it
// applies only to these.
func excuse(construct constructs.IConstruct, rule, reason string, findings ...string) {
	cdknag.NagSuppressions_AddResourceSuppressions(construct, suppression(rule, reason, findings), jsii.Bool(true))
}

// excuseAll does the same for a whole stack.
func excuseAll(stack awscdk.Stack, rule, reason string, findings ...string) {
	cdknag.NagSuppressions_AddStackSuppressions(stack, suppression(rule, reason, findings), nil)
}

// excuseLike is excuse for the findings that match a pattern.
func excuseLike(construct constructs.IConstruct, rule, reason, pattern string) {
	s := suppression(rule, reason, nil)
	(*s)[0].AppliesTo = &[]any{&cdknag.RegexAppliesTo{Regex: &pattern}}
	cdknag.NagSuppressions_AddResourceSuppressions(construct, s, jsii.Bool(true))
}

func suppression(rule, reason string, findings []string) *[]*cdknag.NagPackSuppression {
	s := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}
	if len(findings) > 0 {
		list := make([]any, len(findings))
		for i, f := range findings {
			list[i] = f
		}
		s.AppliesTo = &list
	}
	return &[]*cdknag.NagPackSuppression{s}
}
