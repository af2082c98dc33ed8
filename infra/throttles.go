package main

import (
	"net/http"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/ratelimit"
)

// Throttles are API Gateway's bounds, for all callers together. API Gateway applies the throttle of its stage to each
// method separately. All methods and all APIs of the account share the account's quota in a region: 10,000 requests a
// second and bursts of 5,000, or 2,500 and 1,250 in some regions.
type Throttles struct {
	// Method bounds every method without its own bound.
	Method Throttle
	// Poll bounds each operation with which boxes poll. It is lower than Method, and leaves room in the account's quota: a
	// storm of polls reaches its own bound before it uses up what operators need.
	Poll Throttle
}

// A Throttle is a bound in requests a second, with a burst.
type Throttle struct{ Rate, Burst int }

// The operations with which boxes poll and report, their own and hawkBit's DDI.
const (
	manifest    = "get-manifest"
	ddiBase     = "get-ddi-base"
	reported    = "put-update-report"
	ddiReported = "post-ddi-deployment-feedback"
)

var (
	// mockThrottle bounds each method that API Gateway answers itself. These calls need no token, and the limiter does not
	// count them.
	mockThrottle = Throttle{Rate: 20, Burst: 40}
	// docsThrottle bounds each page of the contract. It limits the cost that a stranger can cause, and the concurrent
	// executions that these calls take from the fleet.
	docsThrottle = Throttle{Rate: 2, Burst: 6}
	// consoleThrottle bounds the operator's page and, together, its files. A browser that has them cached requests only the
	// page; another requests some twenty files at the same time.
	consoleThrottle = Throttle{Rate: 2, Burst: 40}
)

func readThrottles(r *reader) Throttles {
	const highest = 1_000_000
	return Throttles{
		Method: Throttle{Rate: r.number("throttleRate", 2000, 1, highest), Burst: r.number("throttleBurst", 2000, 1, highest)},
		Poll:   Throttle{Rate: r.number("pollRate", 1800, 1, highest), Burst: r.number("pollBurst", 1000, 1, highest)},
	}
}

func (t Throttles) check(r *reader, limits ratelimit.Limits) {
	if t.Method.Rate*60 <= limits.Organization {
		r.fault("throttleRate: %d a second is lower than the fair-use limit of %d a minute", t.Method.Rate, limits.Organization)
	}
	if t.Poll.Rate >= t.Method.Rate || t.Poll.Burst >= t.Method.Burst {
		r.fault("pollRate, pollBurst: %d and %d must be lower than throttleRate and throttleBurst, %d and %d", t.Poll.Rate, t.Poll.Burst, t.Method.Rate, t.Method.Burst)
	}
}

// methodThrottles are the bounds of the methods that have their own, by path and method.
func (s *service) methodThrottles() *map[string]*awsapigateway.MethodDeploymentOptions {
	methods := map[string]*awsapigateway.MethodDeploymentOptions{}
	add := func(path, method string, t Throttle) {
		// These settings do not inherit the missing ones from the API Gateway stage.
		methods[path+"/"+method] = &awsapigateway.MethodDeploymentOptions{
			LoggingLevel: awsapigateway.MethodLoggingLevel_ERROR, DataTraceEnabled: jsii.Bool(false),
			ThrottlingRateLimit: jsii.Number(t.Rate), ThrottlingBurstLimit: jsii.Number(t.Burst),
		}
	}
	for _, op := range s.rows {
		if op.ID == manifest || op.ID == ddiBase {
			add(op.Path, op.Method, s.settings.Throttles.Poll)
			if root := op.RootPath(); root != "" && s.settings.DDIRoot {
				add(root, op.Method, s.settings.Throttles.Poll)
			}
		}
	}
	for path, methods := range s.mocks() {
		for method := range methods {
			add(path, method, mockThrottle)
		}
	}
	for path, page := range s.pages() {
		add(path, http.MethodGet, page.throttle)
	}
	return &methods
}
