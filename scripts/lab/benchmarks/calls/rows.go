package calls

import (
	"net/http"

	"wavegate/scripts/samples"
)

// A Row is a case of an operation's sample: a call of the operation in one of the ways that cost differently.
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

// Prepare makes what the call acts on, with new names each time, and returns the call.
func (r Row) Prepare(w *World) (samples.Call, error) {
	s := samples.Session{Values: samples.Fresh(w.Name), Name: w.Name, Do: func(c samples.Call) (http.Header, error) {
		a, err := w.Must(c)
		// A busy machine may not record a poll in time. The poll has no receipt then, and the box polls again.
		for try := 0; err == nil && c.Operation == "get-manifest" && a.Header.Get("ETag") == "" && try < 20; try++ {
			a, err = w.Must(c)
		}
		return a.Header, err
	}}
	return s.Prepare(r.Operation, r.Case)
}
