package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Forms of accounts, regions and ARNs.
var (
	accountID = regexp.MustCompile(`^[0-9]{12}$`)
	regionID  = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)
	keyARN    = regexp.MustCompile(`^arn:aws[a-z-]*:kms:([a-z0-9-]+):[0-9]{12}:key/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})$`)
	aclARN    = regexp.MustCompile(`^arn:aws[a-z-]*:wafv2:([a-z0-9-]+):[0-9]{12}:regional/webacl/[A-Za-z0-9_-]+/[A-Za-z0-9-]+$`)
	topicARN  = regexp.MustCompile(`^arn:aws[a-z-]*:sns:([a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)
	policyARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9+=,.@_/-]+$`)
)

// Tags that every stack has.
const (
	tagService = "service"
	tagStage   = "stage"
)

// checkPlace checks the account, the region, the ARNs of what the deployment uses there, and the tags.
func (s Settings) checkPlace(r *reader) {
	if s.Account != "" && !accountID.MatchString(s.Account) {
		r.fault("account: %q is not an account id of twelve digits", s.Account)
	}
	if s.Region != "" && !regionID.MatchString(s.Region) {
		r.fault("region: %q is not a region", s.Region)
	}
	if s.Stage == Prod && (s.Account == "" || s.Region == "") {
		r.fault("account, region: prod must set both, so that the wrong credentials cannot make a second prod")
	}
	s.checkARN(r, "kmsKeyArn", s.KMSKeyARN, keyARN, "a KMS key")
	s.checkARN(r, "webAclArn", s.WebACLARN, aclARN, "a regional web ACL")
	if s.PermissionsBoundary != "" && !policyARN.MatchString(s.PermissionsBoundary) {
		r.fault("permissionsBoundary: %q is not the ARN of an IAM policy", s.PermissionsBoundary)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tags)) {
		if name == tagService || name == tagStage || strings.HasPrefix(strings.ToLower(name), "aws:") || name == "" || len(name) > 128 || len(s.Tags[name]) > 256 {
			r.fault("tags: %q cannot be set: names have 1 to 128 characters and values at most 256; %s, %s and aws:… are reserved", name, tagService, tagStage)
		}
	}
}

// checkARN checks the ARN of a resource in the deployment's region.
func (s Settings) checkARN(r *reader, key, arn string, form *regexp.Regexp, what string) {
	if arn == "" {
		return
	}
	parts := form.FindStringSubmatch(arn)
	if parts == nil {
		r.fault("%s: %q is not the ARN of %s", key, arn, what)
	} else if s.Region != "" && parts[1] != s.Region {
		r.fault("%s: it is in %s, and the deployment in %s", key, parts[1], s.Region)
	}
}
