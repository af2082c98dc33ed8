// Package storefront stands between the functions and the store and plays IAM: each function has an
// access key of its own, and what its row in the table of operations does not grant is refused as
// AWS would refuse it. It notes which rights were used, and it can hold calls at a barrier, delay,
// fail, repeat or lose them, so that races and faults are forced and not hoped for.
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

// AdminKey is the access key of tests and tools: it may do everything, and is not held, failed or
// noted.
const AdminKey = "LOCALADMIN"

// AccessKey is the access key id of a function. DynamoDB Local takes letters and digits only.
func AccessKey(function string) string {
	return "LOCAL" + strings.ToUpper(strings.ReplaceAll(function, "-", ""))
}

// Options say what stands behind the front and who may do what.
type Options struct {
	// Endpoint is the store's base URL.
	Endpoint string
	// Grants gives each function's rights. A function that is not listed has no key.
	Grants map[string][]operations.Grant
	// TableName gives a table's name in the store.
	TableName func(dynamo.TableID) string
}

// A Front is a running store front.
type Front struct {
	store     *upstream.Store
	url       string
	server    *http.Server
	functions map[string]string // access key: function
	tables    map[string]dynamo.TableID

	mu       sync.Mutex
	granted  map[Right]bool // whether it was used
	refused  []string
	deciders []*func(*Call) Fate
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

// Close ends the front; calls under way break off.
func (f *Front) Close() error {
	err := f.server.Close()
	f.store.Close()
	return err
}

// Refused lists the messages of all refusals so far.
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
	var fate Fate
	if key := accessKey(r); key != AdminKey {
		call, refusal := f.admit(key, operation(r), raw)
		if refusal != nil {
			send(w, *refusal)
			return
		}
		fate = f.fate(call)
		if !fate.suffer(w, r) {
			return
		}
	}
	answer, err := f.store.Ask(r, raw)
	if err == nil && fate.Twice {
		answer, err = f.store.Ask(r, raw)
	}
	if err != nil {
		if r.Context().Err() == nil {
			send(w, *Failure(http.StatusInternalServerError, "InternalServerError", "The store behind the front does not answer: "+err.Error()))
		}
		return
	}
	if fate.HoldAnswer != nil {
		select {
		case <-fate.HoldAnswer:
		case <-r.Context().Done():
			return
		}
	}
	if fate.DropAnswer {
		panic(http.ErrAbortHandler)
	}
	answer.Begin(w)
	if fate.CutAnswer {
		_, _ = w.Write(answer.Body[:len(answer.Body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer.Body)
}

// admit decides as IAM would.
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
	if err != nil { // two strings
		panic(err)
	}
	return &Answer{http.StatusBadRequest, string(text)}
}

func send(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}
