package samples

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A Session makes the calls of samples with one set of values, each call once.
type Session struct {
	Values Values
	// Name makes a new name with a stem. Without it, a list gets one item, not a page.
	Name func(stem string) string
	// Do makes a call, and fails unless it succeeds. It returns the answer's header and body.
	Do func(Call) (http.Header, []byte, error)

	made map[string]bool   // by method, path, body and the step's values
	said map[string]string // by type of resource: the body of the last call about one
}

// Prepare makes the resources for a case of an operation's sample, and returns the call.
func (s *Session) Prepare(operation string, c Case) (Call, error) {
	x, items := Of(operation), 1
	if c.Each != "" && s.Name != nil {
		items = pageItems
	}
	for i := range items {
		switch {
		case items == 1:
		case c.Each == numbered:
			s.Values[c.Each] = strconv.Itoa(i + 1)
		case c.Each == "productId":
			s.Values[c.Each] = uuid.NewString()
		default:
			s.Values[c.Each] = s.Name(stem(c.Each))
		}
		for _, step := range slices.Concat(x.After, c.After) {
			if err := s.make(step); err != nil {
				return Call{}, err
			}
		}
	}
	if c.Each == numbered {
		delete(s.Values, c.Each) // what comes next is again about the first
	}
	call := x.Call(s.Values, c)
	if call.Method == http.MethodGet && call.Shows == "" && !Lists(operation) {
		call.Shows = s.said[x.About.Type]
	}
	return call, nil
}

// make makes the calls that a step needs, and then its own.
func (s *Session) make(step Step) error {
	x := Of(step.Operation)
	for _, before := range x.After {
		if err := s.make(before); err != nil {
			return err
		}
	}
	call := x.Call(s.Values, Case{With: step.With})
	of := maps.Clone(s.Values)
	of["etag"] = "" // of the last call, whatever it was
	same := x.Call(of, Case{With: step.With})
	once := fmt.Sprint(same.Method, same.Path, same.Body, step.With) // a step may repeat a call with another value
	if s.made[once] {
		return nil
	}
	head, body, err := s.Do(call)
	if err != nil {
		return fmt.Errorf("samples: %s %s: %w", call.Method, call.Path, err)
	}
	if s.made == nil {
		s.made, s.said = map[string]bool{}, map[string]string{}
	}
	s.made[once], s.said[x.About.Type] = true, call.Body
	s.Values["etag"] = head.Get("ETag")
	if location := head.Get("Location"); x.Makes != "" {
		s.Values[x.Makes] = location[strings.LastIndex(location, "/")+1:]
	}
	if step.Operation == "put-artifact" {
		return Upload(body, "test")
	}
	if x.Told[0] == "" {
		return nil
	}
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("samples: %s %s: %w", call.Method, call.Path, err)
	}
	s.Values[x.Told[1]] = fmt.Sprint(answer[x.Told[0]])
	return nil
}

// Upload sends bytes to the store that an answer of put-artifact names, if they are not there.
func Upload(answer []byte, content string) error {
	var asked struct {
		Upload *struct {
			URL     string
			Headers map[string]string
		}
	}
	if err := json.Unmarshal(answer, &asked); err != nil || asked.Upload == nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPut, asked.Upload.URL, strings.NewReader(content))
	if err != nil {
		return err
	}
	for name, value := range asked.Upload.Headers {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusPreconditionFailed {
		return fmt.Errorf("samples: the store answers %d", res.StatusCode)
	}
	return nil
}
