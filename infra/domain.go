package main

import (
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"
)

// A Domain is the name that the API keeps for years, whatever happens to the stacks.
type Domain struct {
	// Name is a host name. Empty: the API is reached by its stage's own URL.
	Name string
	// CertificateARN is a certificate of ACM for the name, in the stage's region.
	CertificateARN string
	// HostedZone is the id of the Route 53 zone in which the name is to point to the API. Empty: the
	// name is set up elsewhere.
	HostedZone string
}

// noDomain is how a stage says that it wants no domain.
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
	}
	if d.Name == "" && r.stage == string(Prod) {
		r.fault("domain: boxes keep the API's URL for years, so prod names a domain, or says domain=%s", noDomain)
	}
	if d.Name == noDomain {
		d.Name = ""
	}
	return d
}

func (d Domain) check(r *reader, s Settings) {
	if d.Name == "" {
		if d.CertificateARN != "" || d.HostedZone != "" {
			r.fault("certificateArn, hostedZone: they go with a domain")
		}
		return
	}
	if !hostName.MatchString(d.Name) || len(d.Name) > 253 {
		r.fault("domain: %q is no host name in lower case", d.Name)
	}
	if d.CertificateARN == "" {
		r.fault("certificateArn: the domain needs a certificate of ACM in the stage's region")
	}
	s.checkARN(r, "certificateArn", d.CertificateARN, certificateARN, "a certificate")
	if d.HostedZone != "" && !hostedZoneID.MatchString(d.HostedZone) {
		r.fault("hostedZone: %q is no id of a Route 53 zone, such as Z0123456789ABCDEFGHIJ", d.HostedZone)
	}
}

// addDomain puts the API under the domain of the settings. The API's default endpoint is off then: it
// takes TLS 1.0, a web ACL by host name would not see it, and boxes that learnt it could not be moved.
func (s *service) addDomain() {
	d := s.settings.Domain
	if d.Name == "" {
		return
	}
	name := awsapigateway.NewDomainName(s.stack, jsii.String("domain"), &awsapigateway.DomainNameProps{
		DomainName:     &d.Name,
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(s.stack, jsii.String("certificate"), &d.CertificateARN),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
		Mapping:        s.api,
	})
	if d.HostedZone != "" {
		awsroute53.NewCfnRecordSet(s.stack, jsii.String("domain-record"), &awsroute53.CfnRecordSetProps{
			HostedZoneId: &d.HostedZone, Name: &d.Name, Type: jsii.String("A"),
			AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{
				DnsName: name.DomainNameAliasDomainName(), HostedZoneId: name.DomainNameAliasHostedZoneId(),
			},
		})
	}
	s.output("DomainTarget", "What the domain's name has to point to", name.DomainNameAliasDomainName())
}

// baseURL is where the API lies, without a slash at its end, since the operations' paths begin with one.
func (s *service) baseURL() *string {
	if s.settings.Domain.Name != "" {
		return jsii.String("https://" + s.settings.Domain.Name)
	}
	return awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), s.api.RestApiId(), jsii.String(".execute-api."), s.stack.Region(), jsii.String("."),
		s.stack.UrlSuffix(), jsii.String("/" + string(s.settings.Stage)),
	})
}
