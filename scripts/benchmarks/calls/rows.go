package calls

import (
	"net/http"

	"wavegate/scripts/samples"
)

// A Row is a call of an operation in one of the ways that cost differently: a case of its sample.
type Row struct {
	Operation string
	samples.Case
}

// Rows are the cases of all samples.
func Rows() []Row {
	var rows []Row
	for _, s := range samples.All {
		for _, c := range s.Cases {
			rows = append(rows, Row{s.Operation, c})
		}
	}
	return rows
}

// Name is the operation and the case.
func (r Row) Name() string {
	if r.Case.Name == "" {
		return r.Operation
	}
	return r.Operation + ": " + r.Case.Name
}

// Prepare makes what the call acts on and returns the call and the status that it is answered with.
// Each time the names are new.
func (r Row) Prepare(w *World) (Request, int, error) {
	s := samples.Session{Values: samples.Fresh(w.Name), Name: w.Name, Do: func(c samples.Call) (http.Header, error) {
		a, err := w.Must(request(c))
		// On a busy machine a poll may not be recorded in time. It has no receipt then, and a box polls again.
		for try := 0; err == nil && c.Operation == "get-manifest" && a.Header.Get("ETag") == "" && try < 20; try++ {
			a, err = w.Must(request(c))
		}
		return a.Header, err
	}}
	c, err := s.Prepare(r.Operation, r.Case)
	return request(c), c.Status, err
}

func request(c samples.Call) Request {
	return Request{Caller: c.By, Method: c.Method, Path: c.Path, Body: c.Body, Header: c.Header}
}
