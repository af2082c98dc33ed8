// Package credentials reads the AWS credentials that Lambda gives to every function. The SDK's
// config module would read them too, but it more than doubles a function's start-up time.
package credentials

import (
	"context"
	"errors"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// FromEnvironment reads the credentials from the environment at each use.
func FromEnvironment() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		c := aws.Credentials{
			AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
			SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		}
		if !c.HasKeys() {
			return c, errors.New("credentials: the environment has no AWS credentials")
		}
		return c, nil
	})
}
