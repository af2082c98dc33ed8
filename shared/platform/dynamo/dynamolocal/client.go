package dynamolocal

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Region is the region that clients of a local store name. The stores do not look at it.
const Region = "eu-central-1"

// Client makes a client of an endpoint with the given access key.
func Client(endpoint, accessKey string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       Region,
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   &http.Client{Transport: inOnePiece{&http.Transport{MaxIdleConnsPerHost: 64}}},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "local"}, nil
		}),
	})
}

// Client makes a client that talks to the store itself.
func (s *Store) Client() *dynamodb.Client { return Client(s.Endpoint, "local") }

// inOnePiece sends a request's body together with its head. The SDK closes a body as soon as the answer
// begins. net/http may look for the end of a body of an unknown kind at that moment, and then breaks
// the connection. A local store answers fast enough for this to happen.
type inOnePiece struct{ http.RoundTripper }

func (t inOnePiece) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return t.RoundTripper.RoundTrip(r)
}
