package runtime

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// The ids of local functions.
const (
	Region    = "eu-central-1"
	AccountID = "000000000000"
)

// arn is a local function's ARN.
func arn(function string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", Region, AccountID, function)
}

const apiPrefix = "/2018-06-01/runtime"

func (p *process) api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+apiPrefix+"/invocation/next", p.next)
	mux.HandleFunc("POST "+apiPrefix+"/invocation/{id}/response", p.response)
	mux.HandleFunc("POST "+apiPrefix+"/invocation/{id}/error", p.failure)
	mux.HandleFunc("POST "+apiPrefix+"/init/error", p.initError)
	return mux
}

// next waits for a call for the process. It has no timeout, because Lambda freezes a process
// here.
func (p *process) next(w http.ResponseWriter, r *http.Request) {
	p.poll()
	select {
	case c := <-p.calls:
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(c.event)))
		h.Set("Lambda-Runtime-Aws-Request-Id", c.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(c.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", arn(p.function.spec.Name))
		h.Set("Lambda-Runtime-Trace-Id", NewTrace(time.Now())+";Sampled=0")
		_, _ = w.Write(c.event) // Function.processEnded is called for a process that has ended
	case <-r.Context().Done():
	}
}

func (p *process) response(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	if err != nil {
		status(w, http.StatusBadRequest, "the response could not be read")
		return
	}
	if len(payload) > maxPayload {
		p.reply(r.PathValue("id"), nil, ErrAnswerTooLarge)
		status(w, http.StatusRequestEntityTooLarge, "the response is over 6 MB")
		return
	}
	// A function that streams its answer reports an error in trailers, after a part of the body.
	if kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); kind != "" {
		p.accept(w, r, nil, &FunctionError{Type: kind, Message: "the answer ended early"})
		return
	}
	p.accept(w, r, payload, nil)
}

func (p *process) failure(w http.ResponseWriter, r *http.Request) {
	p.accept(w, r, nil, reported(r))
}

func (p *process) accept(w http.ResponseWriter, r *http.Request, payload []byte, err error) {
	if !p.reply(r.PathValue("id"), payload, err) {
		status(w, http.StatusBadRequest, "there is no call with this id")
		return
	}
	status(w, http.StatusAccepted, "OK")
}

func (p *process) initError(w http.ResponseWriter, r *http.Request) {
	e := reported(r)
	p.mu.Lock()
	p.initFail = e
	p.mu.Unlock()
	status(w, http.StatusAccepted, "OK")
	// Lambda ends a process that reports this. Usually the process also ends itself.
	p.kill()
}

func reported(r *http.Request) *FunctionError {
	e := &FunctionError{}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxPayload))
	if json.Unmarshal(body, e) != nil || e.Type == "" && e.Message == "" {
		e.Type, e.Message = "Unknown", string(body)
	}
	return e
}

func status(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": text})
}

// NewTrace makes an X-Ray trace id in the format of AWS headers: "Root=1-<epoch seconds in
// hex>-<96 random bits in hex>".
func NewTrace(now time.Time) string {
	random := uuid.New()
	return fmt.Sprintf("Root=1-%08x-%x", now.Unix(), random[:12])
}
