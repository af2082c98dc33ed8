package dynamolocal

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Region is the region for clients of a local store. The stores ignore it.
const Region = "eu-central-1"

// Client makes a client of an endpoint with the given access key.
func Client(endpoint, accessKey string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       Region,
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   &http.Client{Transport: singleWrite{&http.Transport{MaxIdleConnsPerHost: 64}}},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "local"}, nil
		}),
	})
}

// Client makes a client of this store.
func (s *Store) Client() *dynamodb.Client { return Client(s.Endpoint, "local") }

// singleWrite sends a request's body together with its head. The SDK closes a body as soon as the
// answer begins. At that moment net/http may still look for the end of a body of unknown length,
// and then it breaks the connection. Local stores are fast enough for that.
type singleWrite struct{ http.RoundTripper }

func (t singleWrite) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return t.RoundTripper.RoundTrip(r)
}
