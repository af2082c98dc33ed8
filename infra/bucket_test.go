package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/operations/table"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

func TestBucket_UnlessAskedFor_IsInNoStack(t *testing.T) {
	for name, s := range map[string]stage{"dev": dev(), "prod": prod(), "local": local(), "other": other()} {
		for id, r := range s.Resources {
			expect.That(t, !strings.HasPrefix(r.Type, "AWS::S3::") && !strings.HasPrefix(r.Type, "AWS::CloudFront::"),
				"%s has %s, %s", name, id, r.Type)
			for variable := range environment(r) {
				expect.That(t, !strings.HasPrefix(variable, "ARTIFACT_"), "%s: %s has %s", name, id, variable)
			}
			for _, may := range allowances(r) {
				expect.That(t, !strings.HasPrefix(may, "Allow s3:"), "%s: %s has %s", name, id, may)
			}
		}
	}
}

// TestBucket_AskedFor_IsPrivate_AndKeepsDeletedBytesAsLongAsTablesCanBeRestored, if the deployment keeps its data.
func TestBucket_AskedFor_IsPrivate_AndKeepsDeletedBytesAsLongAsTablesCanBeRestored(t *testing.T) {
	private := map[string]any{
		"PublicAccessBlockConfiguration/BlockPublicAcls": true, "PublicAccessBlockConfiguration/BlockPublicPolicy": true,
		"PublicAccessBlockConfiguration/IgnorePublicAcls": true, "PublicAccessBlockConfiguration/RestrictPublicBuckets": true,
		"OwnershipControls/Rules/0/ObjectOwnership":                                         "BucketOwnerEnforced",
		"LifecycleConfiguration/Rules/0/AbortIncompleteMultipartUpload/DaysAfterInitiation": 1.0,
		"CorsConfiguration/CorsRules/0/AllowedMethods/0":                                    "PUT",
		"CorsConfiguration/CorsRules/0/AllowedMethods/1":                                    nil,
	}
	const encryption = "BucketEncryption/ServerSideEncryptionConfiguration/0/"
	for name, c := range map[string]struct {
		stage  stage
		policy string
		has    map[string]any
	}{
		"it keeps its data, with a key of its own": {full(), "Retain", map[string]any{
			encryption + "ServerSideEncryptionByDefault/KMSMasterKeyID": testKey, encryption + "BucketKeyEnabled": true,
			"VersioningConfiguration/Status":                                            "Enabled",
			"LifecycleConfiguration/Rules/0/NoncurrentVersionExpiration/NoncurrentDays": float64(recoveryDays),
			"LifecycleConfiguration/Rules/0/ExpiredObjectDeleteMarker":                  true,
			"CorsConfiguration/CorsRules/0/AllowedOrigins/0":                            "https://api.wavegate.example",
		}},
		"it keeps nothing": {pages(), "Delete", map[string]any{
			encryption + "ServerSideEncryptionByDefault/SSEAlgorithm": "AES256", "VersioningConfiguration/Status": nil,
			"LifecycleConfiguration/Rules/0/NoncurrentVersionExpiration/NoncurrentDays": nil,
			"CorsConfiguration/CorsRules/0/AllowedOrigins/0":                            "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			id := c.stage.id(t, "AWS::S3::Bucket", "artifacts")
			want := maps.Clone(private)
			maps.Copy(want, c.has)
			has(t, c.stage.Resources[id].Properties, want, "the bucket")
			expect.Equal(t, c.stage.Resources[id].DeletionPolicy, "Retain", "the bucket leaves its stack:")
			expect.Equal(t, len(c.stage.of("AWS::S3::Bucket")), 1, "the number of buckets is")
			distribution := c.stage.id(t, "AWS::CloudFront::Distribution", "artifacts-distribution")
			for policy, r := range c.stage.of("AWS::S3::BucketPolicy") {
				expect.Equal(t, r.DeletionPolicy, c.policy, "with its stack, %s goes:", policy) // without it, boxes get nothing
				document := r.Properties["PolicyDocument"]
				object := "${" + id + ".Arn}/*"
				expect.Equal(t, allowed(document), []string{"Deny s3:* ${" + id + ".Arn}", "Deny s3:* " + object, "Allow s3:GetObject " + object}, "%s says", policy)
				has(t, value(document, "Statement", 0), map[string]any{"Condition/Bool/aws:SecureTransport": "false"}, "what is refused")
				has(t, value(document, "Statement", 1), map[string]any{"Principal/Service": "cloudfront.amazonaws.com"}, "who may read")
				if source := text(value(document, "Statement", 1, "Condition", "StringEquals", "AWS:SourceArn")); !strings.HasSuffix(source, ":distribution/${"+distribution+"}") {
					t.Errorf("it lets %s read", source)
				}
			}
		})
	}
}

// TestDistribution_AnswersByThePathAlone_AndChangesNoByte: otherwise a range would not be that of the file.
func TestDistribution_AnswersByThePathAlone_AndChangesNoByte(t *testing.T) {
	template := full()
	d := template.Resources[template.id(t, "AWS::CloudFront::Distribution", "artifacts-distribution")]
	behavior := value(d.Properties, "DistributionConfig", "DefaultCacheBehavior")
	has(t, behavior, map[string]any{
		"ViewerProtocolPolicy": "https-only", "Compress": false, "FunctionAssociations": nil, "LambdaFunctionAssociations": nil, "OriginRequestPolicyId": nil,
		"CachePolicyId": "b2884449-e4de-46a7-ac36-70bc7f1ddd6d", // AWS's own policy without headers, cookies, query and compression
	}, "the distribution")
	expect.Equal(t, list(value(behavior, "AllowedMethods")), []string{"GET", "HEAD"}, "it takes")
	expect.Equal(t, value(d.Properties, "DistributionConfig", "CacheBehaviors"), nil, "it has other behaviors:")
	for _, policy := range template.of("AWS::CloudFront::ResponseHeadersPolicy") {
		has(t, policy.Properties, map[string]any{
			"ResponseHeadersPolicyConfig/CustomHeadersConfig/Items/0/Value": "public, max-age=31536000, immutable",
		}, "its answers")
	}
	for _, access := range template.of("AWS::CloudFront::OriginAccessControl") {
		has(t, access.Properties, map[string]any{"OriginAccessControlConfig/SigningBehavior": "always"}, "its calls of the bucket")
	}
}

// TestBucket_Functions_MayDoWhatTheirOperationNeeds, in this bucket only. Only they know its URL.
func TestBucket_Functions_MayDoWhatTheirOperationNeeds(t *testing.T) {
	template := full()
	bucket := template.id(t, "AWS::S3::Bucket", "artifacts")
	object := "arn:${AWS::Partition}:s3:::${" + bucket + "}"
	want := map[string][]string{
		"put-artifact":    {"kms:Decrypt", "kms:GenerateDataKey", "s3:GetObject /*", "s3:ListBucket", "s3:PutObject /*"},
		"update-artifact": {"kms:Decrypt", "s3:GetObject /*", "s3:ListBucket"},
		"tick":            {"s3:DeleteObject /*"},
	}
	rows := slices.Clone(table.All)
	for _, task := range table.Tasks {
		rows = append(rows, task.Operation)
	}
	for _, op := range rows {
		f := template.function(t, op.ID)
		var got []string
		for _, may := range allowances(template.role(f)) {
			fields := strings.Fields(may)
			switch {
			case strings.HasPrefix(fields[1], "s3:"):
				got = append(got, strings.TrimSpace(fields[1]+" "+strings.TrimPrefix(strings.ReplaceAll(fields[2], "arn:aws:", "arn:${AWS::Partition}:"), object)))
			case strings.HasPrefix(fields[1], "kms:") && want[op.ID] != nil:
				got = append(got, fields[1])
			}
		}
		expect.Equal(t, got, want[op.ID], "%s may", op.ID)
		store, url := environment(f)[string(setting.ArtifactStoreURL)], environment(f)[string(setting.ArtifactURL)]
		expect.Equal(t, slices.Contains(op.Settings, setting.ArtifactStoreURL), store != nil, "%s names the bucket's URL:", op.ID)
		expect.Equal(t, slices.Contains(op.Settings, setting.ArtifactURL), url != nil, "%s names the URL of downloads:", op.ID)
		if want[op.ID] != nil && store == nil {
			t.Errorf("%s may use the bucket, and does not know it", op.ID)
		}
		if host := text(store); store != nil && !strings.HasPrefix(host, "https://${"+bucket+"}.s3.eu-central-1.") {
			t.Errorf("%s finds the bucket at %s", op.ID, host)
		}
	}
}
