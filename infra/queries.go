package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// queries are the usual questions to the access logs about callers. Metrics cannot answer them, because a metric for each
// caller would cost more with a larger fleet. Operators run them by hand, because each run is charged by the bytes read.
var queries = []struct{ id, name, lines string }{
	{"who-limited", "Who was limited",
		"filter status = 429 | stats count(*) as calls by organizationId, userId, issuer | sort calls desc | limit 20"},
	{"gateway-throttles", "Throttled by API Gateway itself",
		"filter error = 'THROTTLED' | stats count(*) as calls by bin(5m) | limit 20"},
	{"steps-taken", "Releases and rollouts: steps taken",
		"filter operation like /release-channels|rollouts/ and operation not like /GET/ and status < 300 | stats count(*) as steps by operation, path | limit 20"},
	{"what-takes-long", "What takes long",
		"filter latency >= 1000 | stats count(*) as calls, pct(latency, 95) as p95 by operation | sort calls desc | limit 20"},
	{"what-fails", "What fails, and for whom",
		"filter status >= 500 | stats count(*) as calls by operation, status, error, organizationId | sort calls desc | limit 20"},
}

// addQueries saves the queries in CloudWatch, in a folder named like the deployment.
func (s *service) addQueries() {
	for _, q := range queries {
		awslogs.NewCfnQueryDefinition(s.stack, jsii.String("query-"+q.id), &awslogs.CfnQueryDefinitionProps{
			Name: jsii.String(s.name() + "/" + q.name), LogGroupNames: &[]any{s.access.LogGroupName()},
			QueryString: jsii.String(strings.ReplaceAll(q.lines, " | ", "\n| ")),
		})
	}
}
