package main

import (
	"net/url"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfrontorigins"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
	"wavegate/shared/platform/setting"
)

// recoveryDays is how far back the tables can be restored.
const recoveryDays = 35

// An artifactsRef refers to the bucket with the bytes of artifacts, and has the URL at which boxes download them. All are nil
// without artifacts.
type artifactsRef struct{ bucket, arn, url *string }

// addArtifacts makes the bucket and the distribution in front of it, if the settings ask for them. They are in the data stack,
// because a published version keeps its URL for years. No code runs at the edge: an object's key is as good as a token.
func (p part) addArtifacts() artifactsRef {
	if !p.settings.Artifacts {
		return artifactsRef{}
	}
	bucket := p.addBucket()
	name := func(what string) *string { // CloudFront's names are those of the account, not of a region
		return awscdk.Fn_Join(jsii.String("-"), &[]*string{jsii.String(p.name()), jsii.String(what), p.stack.Region()})
	}
	access := awscloudfront.NewS3OriginAccessControl(p.stack, jsii.String("artifacts-access"), &awscloudfront.S3OriginAccessControlProps{
		OriginAccessControlName: name("artifacts"),
	})
	headers := awscloudfront.NewResponseHeadersPolicy(p.stack, jsii.String("artifacts-headers"), &awscloudfront.ResponseHeadersPolicyProps{
		ResponseHeadersPolicyName: name("artifacts"),
		CustomHeadersBehavior: &awscloudfront.ResponseCustomHeadersBehavior{CustomHeaders: &[]*awscloudfront.ResponseCustomHeader{{
			Header: jsii.String("Cache-Control"), Value: jsii.String("public, max-age=31536000, immutable"), Override: jsii.Bool(true),
		}}},
		SecurityHeadersBehavior: &awscloudfront.ResponseSecurityHeadersBehavior{
			ContentTypeOptions: &awscloudfront.ResponseHeadersContentTypeOptions{Override: jsii.Bool(true)},
		},
	})
	distribution := awscloudfront.NewDistribution(p.stack, jsii.String("artifacts-distribution"), &awscloudfront.DistributionProps{
		Comment:     jsii.String(p.name() + ": artifacts"),
		HttpVersion: awscloudfront.HttpVersion_HTTP2,
		DefaultBehavior: &awscloudfront.BehaviorOptions{
			Origin: awscloudfrontorigins.S3BucketOrigin_WithOriginAccessControl(bucket, &awscloudfrontorigins.S3BucketOriginWithOACProps{
				OriginAccessControl: access,
			}),
			AllowedMethods:       awscloudfront.AllowedMethods_ALLOW_GET_HEAD(),
			ViewerProtocolPolicy: awscloudfront.ViewerProtocolPolicy_HTTPS_ONLY,
			// A cached answer depends on the path only, and the edge keeps it for a day, so deleted bytes are gone then.
			CachePolicy:           awscloudfront.CachePolicy_CACHING_OPTIMIZED_FOR_UNCOMPRESSED_OBJECTS(),
			ResponseHeadersPolicy: headers,
			Compress:              jsii.Bool(false), // ranges must be those of the file
		},
	})
	for _, c := range []constructs.IConstruct{access, headers, distribution, bucket.Policy()} {
		c.Node().DefaultChild().(awscdk.CfnResource).ApplyRemovalPolicy(p.removal(), nil)
	}
	if p.key != nil { // the CDK cannot change the policy of a key that it has not made; deploying.md has the statement
		for _, at := range []constructs.IConstruct{p.stack, distribution} {
			awscdk.Annotations_Of(at).AcknowledgeWarning(jsii.String("@aws-cdk/aws-cloudfront-origins:wildcardKeyPolicyForOac"), nil)
			awscdk.Annotations_Of(at).AcknowledgeWarning(jsii.String("@aws-cdk/aws-cloudfront-origins:updateImportedKeyPolicyOac"), nil)
		}
	}
	excuse(distribution, "AwsSolutions-CFR1", "Boxes may be in any country.")
	excuse(distribution, "AwsSolutions-CFR2", "It only reads files whose names nobody can guess, from a cache.")
	excuse(distribution, "AwsSolutions-CFR3", "A log of downloads would need a bucket of its own; boxes report what they have installed.")
	excuse(distribution, "AwsSolutions-CFR4", "The certificate is that of CloudFront's own name, whose protocols only CloudFront chooses.")
	p.output("ArtifactBucket", "The bucket with the artifacts' bytes", bucket.BucketName())
	location := awscdk.Fn_Join(jsii.String(""), &[]*string{jsii.String("https://"), distribution.DistributionDomainName()})
	p.output("ArtifactUrl", "Where boxes download artifacts", location)
	return artifactsRef{bucket.BucketName(), bucket.BucketArn(), location}
}

// addBucket makes the bucket. A deployment that keeps its data also keeps deleted bytes, for as long as its tables can be
// restored: otherwise a restore would bring back artifacts without their bytes. CloudFormation deletes no bucket with objects,
// so the bucket always stays.
func (p part) addBucket() awss3.Bucket {
	life := &awss3.LifecycleRule{AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1))}
	if p.settings.Keeps() {
		life.NoncurrentVersionExpiration, life.ExpiredObjectDeleteMarker = awscdk.Duration_Days(jsii.Number(recoveryDays)), jsii.Bool(true)
	}
	props := &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL:        jsii.Bool(true),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		Versioned:         jsii.Bool(p.settings.Keeps()),
		LifecycleRules:    &[]*awss3.LifecycleRule{life},
		RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
	}
	if p.key != nil {
		// With a bucket's key, S3 calls KMS once for many objects.
		props.Encryption, props.EncryptionKey, props.BucketKeyEnabled = awss3.BucketEncryption_KMS, p.key, jsii.Bool(true)
	}
	if origin := p.consoleOrigin(); origin != nil {
		props.Cors = &[]*awss3.CorsRule{{
			AllowedOrigins: &[]*string{origin}, AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
			AllowedHeaders: jsii.Strings("*"), MaxAge: jsii.Number(3600),
		}}
	}
	bucket := awss3.NewBucket(p.stack, jsii.String("artifacts"), props)
	excuse(bucket, "AwsSolutions-S1", "CloudTrail can record its calls; a log of accesses would need a bucket of its own.")
	return bucket
}

// consoleOrigin is the origin of the operator's page, which uploads files itself; nil: there is no page. Without a domain, a
// page of another issuer's people is at a URL that API Gateway chooses.
func (p part) consoleOrigin() *string {
	switch u, err := url.Parse(p.settings.Console); {
	case p.settings.Console == "" || err != nil:
		return nil
	case u.Host != "":
		return jsii.String(u.Scheme + "://" + u.Host)
	}
	return awscdk.Fn_Join(jsii.String("."), &[]*string{jsii.String("https://*.execute-api"), p.stack.Region(), p.stack.UrlSuffix()})
}

// artifactActions are what functions may do in the bucket: put signs uploads, and list makes S3 say that an object is not there.
var artifactActions = map[string]struct{ put, look, remove bool }{
	"put-artifact":    {put: true, look: true},
	"update-artifact": {look: true},
	operations.Tick:   {remove: true},
}

// artifactRights are the permissions of a function in the bucket.
func (s *service) artifactRights(function string) (list []awsiam.PolicyStatement) {
	may := artifactActions[function]
	if !s.settings.Artifacts {
		return nil
	}
	objects := awscdk.Fn_Join(jsii.String(""), &[]*string{s.held.artifacts.arn, jsii.String("/*")})
	var actions, keys []string
	if may.put {
		actions, keys = append(actions, "s3:PutObject"), append(keys, "kms:GenerateDataKey")
	}
	if may.look {
		actions, keys = append(actions, "s3:GetObject"), append(keys, "kms:Decrypt")
		list = append(list, allow(texts("s3:ListBucket"), s.held.artifacts.arn))
	}
	if may.remove {
		actions = append(actions, "s3:DeleteObject")
	}
	if len(actions) > 0 {
		list = append(list, allow(texts(actions...), objects))
	}
	if len(keys) > 0 && s.settings.KMSKeyARN != "" {
		list = append(list, s.useOfKey("s3", keys...))
	}
	return list
}

// artifactSettings are the functions' settings about artifacts.
func (s *service) artifactSettings() map[setting.Name]*string {
	if !s.settings.Artifacts {
		return nil
	}
	return map[setting.Name]*string{
		setting.ArtifactURL: s.held.artifacts.url,
		setting.ArtifactStoreURL: awscdk.Fn_Join(jsii.String(""), &[]*string{
			jsii.String("https://"), s.held.artifacts.bucket, jsii.String(".s3."), s.stack.Region(), jsii.String("."), s.stack.UrlSuffix(),
		}),
	}
}

// artifactAlarms check that the functions reach the bucket.
func (w *watch) artifactAlarms() []alarm {
	if !w.settings.Artifacts {
		return nil
	}
	return []alarm{{
		kind: "artifacts-unreached", says: "The bucket with the artifacts does not answer the functions.",
		metric: w.own().metric("ArtifactStoreFailed", sum, ""), threshold: 1, minutes: 1, of: 1,
	}}
}
