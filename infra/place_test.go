package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestDomain_NoneSet_TheStagesOwnURLServes(t *testing.T) {
	for name, s := range stages() {
		n := len(s.of("AWS::ApiGateway::DomainName"))
		expect.That(t, n == 0, "%s has %d domains", name, n)
		for _, r := range s.of("AWS::ApiGateway::RestApi") {
			expect.That(t, r.Properties["DisableExecuteApiEndpoint"] != true, "%s cannot be reached", name)
		}
		if url := text(s.Outputs["ApiUrl"].Value); !strings.HasPrefix(url, "https://${api") || !strings.HasSuffix(url, "/"+name) {
			t.Errorf("%s is at %s", name, url)
		}
	}
}

// TestDomain_Set_IsTheOnlyWayIn: with TLS 1.2 or newer, and the name points to it.
func TestDomain_Set_IsTheOnlyWayIn(t *testing.T) {
	template := full()
	domain := template.id(t, "AWS::ApiGateway::DomainName", "domain")
	has(t, template.Resources[domain].Properties, map[string]any{
		"DomainName": "api.wavegate.example", "SecurityPolicy": "TLS_1_2", "EndpointConfiguration/Types": []any{"REGIONAL"},
		"RegionalCertificateArn": "arn:aws:acm:eu-central-1:111122223333:certificate/c-1",
	}, "the domain")
	for _, r := range template.of("AWS::ApiGateway::RestApi") {
		expect.Equal[any](t, r.Properties["DisableExecuteApiEndpoint"], true, "the default endpoint, which takes TLS 1.0, serves")
	}
	further := template.id(t, "AWS::ApiGateway::DomainName", "domain-hawkbitacmeexample")
	has(t, template.Resources[further].Properties, map[string]any{
		"DomainName": "hawkbit.acme.example", "SecurityPolicy": "TLS_1_2", "RegionalCertificateArn": "arn:aws:acm:eu-central-1:111122223333:certificate/c-2",
	}, "the further domain")
	expect.Equal(t, text(template.Outputs["FurtherDomainTargets"].Value), "hawkbit.acme.example ${"+further+".RegionalDomainName}", "it must point to")
	mappings := template.of("AWS::ApiGateway::BasePathMapping")
	for _, m := range mappings {
		if name := text(m.Properties["DomainName"]); name != "${"+domain+"}" && name != "${"+further+"}" || m.Properties["BasePath"] != nil || !strings.HasPrefix(text(m.Properties["RestApiId"]), "${api") ||
			!strings.HasPrefix(text(m.Properties["Stage"]), "${api") {
			t.Errorf("the mapping is %v", m.Properties)
		}
	}
	expect.Equal(t, len(mappings), 2, "the number of mappings is")
	has(t, template.Resources["domainrecord"].Properties, map[string]any{
		"Name": "api.wavegate.example", "HostedZoneId": "Z0123456789", "Type": "A",
		"AliasTarget/DNSName": "${" + domain + ".RegionalDomainName}", "AliasTarget/HostedZoneId": "${" + domain + ".RegionalHostedZoneId}",
	}, "the record of the name")
	expect.Equal(t, text(template.Outputs["ApiUrl"].Value), "https://api.wavegate.example", "ApiUrl is")
	expect.Equal(t, text(template.Outputs["DocsUrl"].Value), "https://api.wavegate.example/docs", "DocsUrl is")
}

// TestRegions_OfOneAccount_DoNotCollide: names that are global to an account differ.
func TestRegions_OfOneAccount_DoNotCollide(t *testing.T) {
	global := map[string][]string{
		"AWS::CloudWatch::Dashboard": {"DashboardName"},
		"AWS::IAM::Role":             {"RoleName"},
		"AWS::IAM::ManagedPolicy":    {"ManagedPolicyName"},
		"AWS::IAM::InstanceProfile":  {"InstanceProfileName"},
		"AWS::S3::Bucket":            {"BucketName"},
		"AWS::Route53::HostedZone":   {"Name"},
	}
	names := func(s stage) map[string]bool {
		found := map[string]bool{}
		for kind, properties := range global {
			for _, r := range s.of(kind) {
				for _, property := range properties {
					if name := text(r.Properties[property]); r.Properties[property] != nil {
						found[kind+" "+name] = true
					}
				}
			}
		}
		return found
	}
	here, there := names(prod()), names(other())
	for name := range here {
		expect.That(t, !there[name], "both regions have the %s", name)
	}
	if len(here) == 0 || len(here) != len(there) {
		t.Errorf("names are %v and %v", sorted(here), sorted(there))
	}
	// If no region is set, the name contains the credentials' region.
	for name := range names(dev()) {
		expect.That(t, strings.Contains(name, "${AWS::Region}"), "dev has the %s in every region", name)
	}
}

func TestTags_AreOnBothStacks_BesideTheProjectsOwn(t *testing.T) {
	want := []string{"costCenter=42", "service=wavegate", "stage=prod"}
	for _, stack := range full().made {
		var got []string
		for name, tag := range *stack.Tags().TagValues() {
			got = append(got, name+"="+*tag)
		}
		slices.Sort(got)
		expect.Equal(t, got, want, "%s has the tags", *stack.StackName())
		if *stack.Account() != "111122223333" || *stack.Region() != "eu-central-1" || !*stack.TerminationProtection() {
			t.Errorf("%s is deployed to %s in %s, protected: %v", *stack.StackName(), *stack.Account(), *stack.Region(), *stack.TerminationProtection())
		}
	}
}

func TestKey_OfOnesOwn_IsUsedForTablesLogsAndTheTopic(t *testing.T) {
	template := full()
	for id, r := range template.of("AWS::DynamoDB::Table") {
		has(t, r.Properties, map[string]any{"SSESpecification/KMSMasterKeyId": testKey, "SSESpecification/SSEType": "KMS"}, "%s", id)
	}
	for id, r := range template.of("AWS::Logs::LogGroup") {
		expect.Equal[any](t, r.Properties["KmsKeyId"], testKey, "%s is encrypted by", id)
	}
	for id, r := range template.of("AWS::SNS::Topic") {
		expect.Equal(t, text(r.Properties["KmsMasterKeyId"]), testKey, "%s is encrypted by", id)
	}
	// A function may use the key only through the services that it calls.
	for id, role := range template.of("AWS::IAM::Role") {
		through := map[string]bool{}
		reads := map[string]bool{}
		var documents []any
		for i := range list(role.Properties["Policies"]) {
			documents = append(documents, value(role.Properties, "Policies", i, "PolicyDocument"))
		}
		for _, policy := range list(role.Properties["ManagedPolicyArns"]) {
			if shared, ok := template.Resources[strings.Trim(policy, "${}")]; ok {
				documents = append(documents, shared.Properties["PolicyDocument"])
			}
		}
		for _, document := range documents {
			for _, s := range value(document, "Statement").([]any) {
				action := list(value(s, "Action"))[0]
				if !strings.HasPrefix(action, "kms:") {
					if service, _, _ := strings.Cut(action, ":"); !slices.Contains([]string{"events:InvokeApiDestination", "s3:DeleteObject"}, action) { // these need no key
						reads[service] = true
					}
					continue
				}
				expect.Equal(t, list(value(s, "Resource")), []string{testKey}, "%s may use", id)
				service, _, _ := strings.Cut(text(value(s, "Condition", "StringEquals", "kms:ViaService")), ".")
				through[service] = true
			}
		}
		maps.DeleteFunc(reads, func(service string, _ bool) bool {
			return !slices.Contains([]string{"dynamodb", "secretsmanager", "events", "sqs", "s3"}, service)
		})
		expect.Equal(t, reads, through, "%s calls %v, and uses the key through %v", id, sorted(reads), sorted(through))
	}
}

func TestBoundary_BoundsEveryRole(t *testing.T) {
	for id, role := range full().of("AWS::IAM::Role") {
		expect.Equal[any](t, role.Properties["PermissionsBoundary"], testBoundary, "%s is bounded by", id)
	}
	for id, role := range dev().of("AWS::IAM::Role") {
		if role.Properties["PermissionsBoundary"] != nil {
			t.Errorf("%s is bounded by %v", id, role.Properties["PermissionsBoundary"])
		}
	}
}

func TestWebACL_IsPutInFrontOfTheStage(t *testing.T) {
	stageARN := func(s stage) string { return text(s.Outputs["StageArn"].Value) }
	associations := full().of("AWS::WAFv2::WebACLAssociation")
	for id, a := range associations {
		if a.Properties["WebACLArn"] != "arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/api/a-1" || text(a.Properties["ResourceArn"]) != stageARN(full()) {
			t.Errorf("%s is %v", id, a.Properties)
		}
	}
	expect.That(t, len(associations) == 1 && len(dev().of("AWS::WAFv2::WebACLAssociation")) == 0,
		"there are %d", len(associations))
	if got := stageARN(dev()); !strings.HasPrefix(got, "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${api") {
		t.Errorf("the stage is %s", got)
	}
}

// TestOutputs_TellTheURLOnce: with a domain, API Gateway's own URL is off, and no output contains it.
func TestOutputs_TellTheURLOnce(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "full": full()} {
		var urls []string
		for id, o := range s.Outputs {
			if strings.HasPrefix(text(o.Value), "https://") && !slices.Contains([]string{"DocsUrl", "ConsoleUrl", "DashboardUrl", "ArtifactUrl"}, id) {
				urls = append(urls, id)
			}
		}
		expect.Equal(t, urls, []string{"ApiUrl"}, "%s: the URL is given as", name)
	}
}
