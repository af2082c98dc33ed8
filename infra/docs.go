package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/operations"
)

// Nobody is asked for a token on the paths of the contract, so no limiter counts those calls: the
// gateway lets through this many a second on each, and at once. That bounds what a stranger can make
// the stack pay for, and how many of the account's concurrent executions it can take from the fleet.
const (
	docsRate  = 2
	docsBurst = 6
)

// addDocs serves the contract and the page that shows it, where the settings ask for it.
func (s *service) addDocs() {
	if !s.settings.Docs {
		return
	}
	function := s.addHelper(operations.Docs, "Serve the contract and the page that shows it", nil)
	for _, path := range operations.DocsPaths {
		method := s.api.Root().ResourceForPath(&path).AddMethod(jsii.String("GET"),
			awsapigateway.NewLambdaIntegration(function, &awsapigateway.LambdaIntegrationOptions{
				Timeout:         awscdk.Duration_Millis(jsii.Number((operations.HelperTimeout + integrationMargin).Milliseconds())),
				AllowTestInvoke: jsii.Bool(false),
			}),
			&awsapigateway.MethodOptions{
				OperationName:     jsii.String(operations.Docs),
				AuthorizationType: awsapigateway.AuthorizationType_NONE,
			})
		excuse(method, "AwsSolutions-APIG4", "The contract is public where it is served at all: it is the same for everyone, and nothing of a tenant is in it.")
	}
	s.output("DocsUrl", "The contract, to be read by people; openapi.yaml lies beside it",
		awscdk.Fn_Join(jsii.String(""), &[]*string{s.baseURL(), jsii.String("/docs")}))
}

// docsThrottle bounds the paths of the contract, by method.
func (s *service) docsThrottle() *map[string]*awsapigateway.MethodDeploymentOptions {
	if !s.settings.Docs {
		return nil
	}
	methods := map[string]*awsapigateway.MethodDeploymentOptions{}
	for _, path := range operations.DocsPaths {
		// What is not said here is not taken over from the stage.
		methods[path+"/GET"] = &awsapigateway.MethodDeploymentOptions{
			LoggingLevel: awsapigateway.MethodLoggingLevel_ERROR, DataTraceEnabled: jsii.Bool(false),
			ThrottlingRateLimit: jsii.Number(docsRate), ThrottlingBurstLimit: jsii.Number(docsBurst),
		}
	}
	return &methods
}

// guardDocs refuses to deploy the page without what renders it.
func guardDocs(settings Settings) error {
	renderer := filepath.Join(settings.Functions, operations.Docs, "redoc.js")
	if _, err := os.Stat(renderer); settings.Docs && err != nil {
		return fmt.Errorf("docs: there is no %s; ./scripts/contract docs puts it there", renderer)
	}
	return nil
}
