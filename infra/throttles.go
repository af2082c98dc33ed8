package main

import (
	"net/http"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/access/ratelimit"
)

// Throttles are the gateway's own bounds, over all callers together. API Gateway applies a stage's
// throttle to each method by itself: every method has the whole of it. What all methods and all APIs of
// the account share in a region is the account's quota: 10,000 requests a second and bursts of 5,000,
// or 2,500 and 1,250 in some regions.
type Throttles struct {
	// Method bounds every method that has no bound of its own.
	Method Throttle
	// Poll bounds each operation by which boxes poll. It lies below Method, and leaves room in the account's
	// quota: a storm of polls is refused by its own bound before it can use up what operators need.
	Poll Throttle
}

// A Throttle is a bound in requests a second, and how many may come at once.
type Throttle struct{ Rate, Burst int }

// The operations by which boxes poll, their own and that of hawkBit's DDI, and the one by which they report.
const (
	manifest = "get-manifest"
	ddiBase  = "get-ddi-base"
	reported = "put-update-report"
)

var (
	// mockThrottle bounds each method that the gateway answers itself. Nobody is asked for a token there,
	// and no limiter counts those calls.
	mockThrottle = Throttle{Rate: 20, Burst: 40}
	// docsThrottle bounds each page of the contract. It bounds what a stranger can make the stack pay
	// for, and how many concurrent executions those calls take from the fleet.
	docsThrottle = Throttle{Rate: 2, Burst: 6}
	// consoleThrottle bounds the operator's page and, together, its files. A browser that has them asks for the
	// page alone; one that has not asks for some twenty files at once.
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
		r.fault("throttleRate: %d a second lies below the fair-use limit of %d a minute", t.Method.Rate, limits.Organization)
	}
	if t.Poll.Rate >= t.Method.Rate || t.Poll.Burst >= t.Method.Burst {
		r.fault("pollRate, pollBurst: %d and %d do not lie below throttleRate and throttleBurst, %d and %d", t.Poll.Rate, t.Poll.Burst, t.Method.Rate, t.Method.Burst)
	}
}

// methodThrottles are the bounds of the methods that have one of their own, by path and method.
func (s *service) methodThrottles() *map[string]*awsapigateway.MethodDeploymentOptions {
	methods := map[string]*awsapigateway.MethodDeploymentOptions{}
	add := func(path, method string, t Throttle) {
		// What is not said here is not taken over from the stage.
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
