// Package storefront is a proxy between the functions and the store. It simulates IAM: each function has its own
// access key, and a call that its row in the table of operations does not grant is refused as by AWS. It records
// which permissions were used. To force races and faults, it can hold calls at a barrier, and delay, fail, repeat or
// lose them.
package storefront

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"wavegate/scripts/local/upstream"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
)

// AdminKey is the access key of tests and tools. It has all permissions, and its calls are not held, failed or
// recorded.
const AdminKey = "LOCALADMIN"

// AccessKey is the access key id of a function. DynamoDB Local accepts only letters and digits.
func AccessKey(function string) string {
	return "LOCAL" + strings.ToUpper(strings.ReplaceAll(function, "-", ""))
}

// Options configure a front.
type Options struct {
	// Endpoint is the store's base URL.
	Endpoint string
	// Grants are the permissions of each function. A function that is not listed has no key.
	Grants map[string][]operations.Grant
	// TableName returns a table's name in the store.
	TableName func(dynamo.TableID) string
}

// A Front is a running store front.
type Front struct {
	store     *upstream.Store
	url       string
	server    *http.Server
	functions map[string]string // function by access key
	tables    map[string]dynamo.TableID

	mu       sync.Mutex
	granted  map[Right]bool // whether it was used
	refused  []string
	deciders []*func(*Call) Effect
}

// Start opens a front on a free loopback port.
func Start(o Options) (*Front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Front{
		store:     upstream.New(o.Endpoint),
		url:       "http://" + listener.Addr().String(),
		functions: map[string]string{},
		tables:    map[string]dynamo.TableID{},
		granted:   map[Right]bool{},
	}
	for function, grants := range o.Grants {
		f.functions[AccessKey(function)] = function
		for _, r := range rightsOf(function, grants) {
			f.granted[r] = false
		}
	}
	for _, t := range dynamo.Tables {
		f.tables[o.TableName(t.ID)] = t.ID
	}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: 5 * time.Second}
	go f.server.Serve(listener) //nolint:errcheck // it ends by Close
	return f, nil
}

// URL is the endpoint for functions.
func (f *Front) URL() string { return f.url }

// Close stops the front and breaks its connections.
func (f *Front) Close() error {
	err := f.server.Close()
	f.store.Close()
	return err
}

// Refused lists the messages of all refusals.
func (f *Front) Refused() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.refused...)
}

func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has left
	}
	var effect Effect
	if key := accessKey(r); key != AdminKey {
		call, refusal := f.admit(key, operation(r), raw)
		if refusal != nil {
			send(w, *refusal)
			return
		}
		effect = f.effect(call)
		if !effect.applyBefore(w, r) {
			return
		}
	}
	answer, err := f.store.Ask(r, raw)
	if err == nil && effect.Twice {
		answer, err = f.store.Ask(r, raw)
	}
	if err != nil {
		if r.Context().Err() == nil {
			send(w, *Failure(http.StatusInternalServerError, "InternalServerError", "The store behind the front does not answer: "+err.Error()))
		}
		return
	}
	if effect.HoldAnswer != nil {
		select {
		case <-effect.HoldAnswer:
		case <-r.Context().Done():
			return
		}
	}
	if effect.DropAnswer {
		panic(http.ErrAbortHandler)
	}
	answer.Begin(w)
	if effect.CutAnswer {
		_, _ = w.Write(answer.Body[:len(answer.Body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer.Body)
}

// admit decides as IAM does.
func (f *Front) admit(key, operation string, raw []byte) (*Call, *Answer) {
	function, known := f.functions[key]
	if !known {
		return nil, &Answer{http.StatusBadRequest, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"The security token included in the request is invalid."}`}
	}
	all, err := uses(operation, raw)
	if err != nil {
		return nil, Failure(http.StatusBadRequest, "SerializationException", err.Error())
	}
	if refused, ok := f.exercise(function, all); !ok {
		return nil, f.deny(function, refused)
	}
	return &Call{Function: function, Operation: operation, Uses: all, Body: raw}, nil
}

func (f *Front) deny(function string, u Use) *Answer {
	resource := "arn:aws:dynamodb:eu-central-1:000000000000:table/" + u.Table
	if u.Index != "" {
		resource += "/index/" + u.Index
	}
	message := fmt.Sprintf("User: arn:aws:sts::000000000000:assumed-role/%s/%s is not authorized to perform: dynamodb:%s on resource: %s because no identity-based policy allows the dynamodb:%s action",
		function, function, u.Action, resource, u.Action)
	f.mu.Lock()
	f.refused = append(f.refused, message)
	f.mu.Unlock()
	text, err := json.Marshal(map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException", "Message": message})
	if err != nil { // two strings can always be encoded
		panic(err)
	}
	return &Answer{http.StatusBadRequest, string(text)}
}

func send(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}
