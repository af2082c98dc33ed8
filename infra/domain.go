package main

import (
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/input"
)

// A Domain is the API's own name, which stays the same when stacks are made again.
type Domain struct {
	// Name is a host name. Empty: the API has only its URL in API Gateway.
	Name string
	// CertificateARN is an ACM certificate for the name, in the deployment's region.
	CertificateARN string
	// Further are the certificates of further names, in the same region, such as that of a server which boxes knew before.
	Further map[string]string
	// HostedZone is the id of the Route 53 zone that gets the DNS record. Empty: the record is made elsewhere.
	HostedZone string
}

// noDomain is the value of the setting domain for a deployment without a domain.
const noDomain = "none"

var (
	hostName       = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
	certificateARN = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):[0-9]{12}:certificate/[A-Za-z0-9-]+$`)
	hostedZoneID   = regexp.MustCompile(`^Z[A-Z0-9]{1,31}$`)
)

func readDomain(r *reader) Domain {
	d := Domain{
		Name:           r.text("domain", ""),
		CertificateARN: r.text("certificateArn", ""),
		HostedZone:     r.text("hostedZone", ""),
		Further:        r.texts("domains"),
	}
	if d.Name == "" && r.stage == string(Prod) {
		r.fault("domain: boxes keep the API's URL for years, so prod must set a domain, or domain=%s", noDomain)
	}
	if d.Name == noDomain {
		d.Name = ""
	}
	return d
}

func (d Domain) check(r *reader, s Settings) {
	if d.Name == "" {
		if d.CertificateARN != "" || d.HostedZone != "" {
			r.fault("certificateArn, hostedZone: they need a domain")
		}
		if len(d.Further) > 0 {
			r.fault("domains: they need a domain, at which the API is afterwards")
		}
		return
	}
	d.checkName(r, "domain", d.Name)
	for _, name := range keysOf(d.Further) {
		d.checkName(r, "domains", name)
		s.checkARN(r, "domains", d.Further[name], certificateARN, "a certificate")
		if name == d.Name {
			r.fault("domains: %q is the domain", name)
		}
	}
	if d.CertificateARN == "" {
		r.fault("certificateArn: the domain needs an ACM certificate in the deployment's region")
	}
	s.checkARN(r, "certificateArn", d.CertificateARN, certificateARN, "a certificate")
	if d.HostedZone != "" && !hostedZoneID.MatchString(d.HostedZone) {
		r.fault("hostedZone: %q is not the id of a Route 53 zone, such as Z0123456789ABCDEFGHIJ", d.HostedZone)
	}
}

func (d Domain) checkName(r *reader, key, name string) {
	if !hostName.MatchString(name) || len(name) > 253 {
		r.fault("%s: %q is not a host name in lower case", key, name)
	}
}

// addDomain maps the domains of the settings to the API. The API's default endpoint is then turned off, for three reasons:
// it accepts TLS 1.0, a web ACL that filters by host name would not match it, and boxes that use it could not be moved.
func (s *service) addDomain() {
	d := s.settings.Domain
	if d.Name == "" {
		return
	}
	name := s.addName("domain", "certificate", d.Name, d.CertificateARN)
	var further []string
	for _, host := range keysOf(d.Further) {
		target := s.addName("domain-"+host, "certificate-"+host, host, d.Further[host])
		further = append(further, host+" "+*target.DomainNameAliasDomainName())
	}
	if len(further) > 0 {
		s.output("FurtherDomainTargets", "The further domains, each with the name that it must point to", jsii.String(strings.Join(further, ", ")))
	}
	if d.HostedZone != "" {
		awsroute53.NewCfnRecordSet(s.stack, jsii.String("domain-record"), &awsroute53.CfnRecordSetProps{
			HostedZoneId: &d.HostedZone, Name: &d.Name, Type: jsii.String("A"),
			AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{
				DnsName: name.DomainNameAliasDomainName(), HostedZoneId: name.DomainNameAliasHostedZoneId(),
			},
		})
	}
	s.output("DomainTarget", "The name that the domain must point to", name.DomainNameAliasDomainName())
}

// addName maps a host name to the API.
func (s *service) addName(id, certificate, host, certificateARN string) awsapigateway.DomainName {
	return awsapigateway.NewDomainName(s.stack, &id, &awsapigateway.DomainNameProps{
		DomainName:     &host,
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(s.stack, &certificate, &certificateARN),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
		Mapping:        s.api,
	})
}

// readTenants reads the tenants of organizations, as {"acme": ["DEFAULT"]}.
func readTenants(r *reader) []string {
	var of map[string][]string
	r.structured("ddiTenants", &of)
	var list []string
	for _, organization := range keysOf(of) {
		for _, tenant := range of[organization] {
			if !input.Name.Accepts(organization) || !input.Name.Accepts(tenant) {
				r.fault("ddiTenants: %q of %q: both must be %s", tenant, organization, input.Name.Says)
			}
			list = append(list, organization+"="+tenant)
		}
	}
	if most := 1500; len(strings.Join(list, " ")) > most {
		r.fault("ddiTenants: they take %d bytes, and may take %d", len(strings.Join(list, " ")), most)
	}
	return list
}

// baseURL is the API's URL without a slash at the end, because the operations' paths begin with one.
func (s *service) baseURL() *string {
	if s.settings.Domain.Name != "" {
		return jsii.String("https://" + s.settings.Domain.Name)
	}
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), s.api.RestApiId(), jsii.String(".execute-api."), s.stack.Region(), jsii.String("."),
		s.stack.UrlSuffix(), jsii.String("/" + string(s.settings.Stage)),
	})
}
