package ratelimit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/testing/expect"
)

// hangingStore answers after a minute. It may have to make a connection first.
type hangingStore struct{ connects bool }

func (h hangingStore) apply(ctx context.Context, _ string, _ write) (item, bool, error) {
	if h.connects {
		httptrace.ContextClientTrace(ctx).ConnectStart("tcp", "192.0.2.1:443")
	}
	select {
	case <-time.After(time.Minute):
		return item{}, true, nil
	case <-ctx.Done():
		return item{}, false, ctx.Err()
	}
}

// TestDeadline_StoreHangs_RequestIsUnchecked runs on the fake clock of testing/synctest.
func TestDeadline_StoreHangs_RequestIsUnchecked(t *testing.T) {
	for connects, want := range map[bool]time.Duration{false: 100 * time.Millisecond, true: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Config{Limits: small, Table: "-"})
			l.store = hangingStore{connects}
			for _, want := range []time.Duration{want, want, want, 0} { // the breaker opens after three
				start := time.Now()
				d := l.Admit(t.Context(), ann, Ordinary)
				if got := time.Since(start); got != want || d.Outcome != Admitted || d.Unchecked == nil {
					t.Errorf("answered after %v, want %v: %+v", got, want, d)
				}
			}
		})
	}
}

func clientOf(url string, transport http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String(url), HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// counted answers every UpdateItem with an item that holds one request.
var counted = []byte(`{"Attributes":{"subject":{"S":"s"},"n":{"N":"1"}}}`)

// TestDeadline_NewConnection_RequestIsCounted covers a container's first call and a call
// after a pause in which the store closed its connections. A new connection takes longer than
// the deadline of a request.
func TestDeadline_NewConnection_RequestIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			httptrace.ContextClientTrace(ctx).ConnectStart(network, address) // as a net.Dialer does
			time.Sleep(300 * time.Millisecond)
			connections++
			here, there := net.Pipe()
			go serveCounted(there)
			return here, nil
		}}
		l := New(Config{Store: clientOf("http://store.example", transport), Table: "-", Limits: small})
		for range 2 {
			d := l.Admit(t.Context(), box, Ordinary)
			expect.That(t, d.Unchecked == nil, "a request that needed a connection was not counted: %v", d.Unchecked)
			transport.CloseIdleConnections()
		}
		expect.That(t, connections == 2, "%d connections were made, want one for each request", connections)
	})
}

// serveCounted counts every request that comes over a connection.
func serveCounted(conn net.Conn) {
	for r := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		const head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n"
		_, _ = fmt.Fprintf(conn, head+"%s", len(counted), counted)
	}
}

// breakingTransport loses the first requests together with their connections, as happens to
// connections that were closed while a container was frozen.
type breakingTransport struct {
	lost  int
	cause error
	tries int
}

func (b *breakingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.tries++; b.tries <= b.lost {
		return nil, b.cause
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(counted)), ContentLength: int64(len(counted)),
	}, nil
}

type timeoutError struct{ error }

func (timeoutError) Timeout() bool { return true }

func TestApply_BrokenConnection_IsRetriedOnce(t *testing.T) {
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	for name, c := range map[string]struct {
		lost  int
		cause error
		write write
		tries int
		done  bool
	}{
		"reset":                      {1, reset, count{}, 2, true},
		"closed":                     {1, io.EOF, count{}, 2, true},
		"a roll":                     {1, io.EOF, roll{}, 2, true},
		"connection broken twice":    {2, reset, count{}, 2, false},
		"no answer in time":          {1, timeoutError{errors.New("late")}, count{}, 1, false},
		"giving back could undo two": {1, reset, giveBack{}, 1, false},
		"nothing is broken":          {0, nil, giveBack{}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &breakingTransport{lost: c.lost, cause: c.cause}
			_, applied, err := counters{api: clientOf("http://192.0.2.1", b), table: "-", rules: slotLog}.apply(t.Context(), "k", c.write)
			expect.Equal(t, b.tries, c.tries, "the number of tries is")
			expect.Equal(t, applied, c.done, "applied:")
			expect.Equal(t, err == nil, c.done, "without an error (%v):", err)
		})
	}
}

func TestApply_CallerLeft_IsNotRetried(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	b := &breakingTransport{lost: 1, cause: io.EOF}
	_, _, err := counters{api: clientOf("http://192.0.2.1", b), table: "-", rules: slotLog}.apply(gone, "k", count{})
	if err == nil || b.tries > 1 {
		t.Errorf("got %v after %d tries", err, b.tries)
	}
}
