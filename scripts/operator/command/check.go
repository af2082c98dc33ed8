package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
)

// operationOf finds the operation that answers a call, with its path parameters still encoded.
func operationOf(method, path string) (op operations.Operation, values map[string]string, ok bool) {
	segments := strings.Split(path, "/")
	for _, op := range table.All {
		pattern := strings.Split(op.Path, "/")
		if op.Method != method || len(pattern) != len(segments) {
			continue
		}
		values, fits := map[string]string{}, true
		for i, p := range pattern {
			if strings.HasPrefix(p, "{") {
				values[strings.Trim(p, "{}")] = segments[i]
			} else if p != segments[i] {
				fits = false
			}
		}
		if fits {
			return op, values, true
		}
	}
	return op, nil, false
}

// acceptable checks a call by the service's own rules, so that nobody is asked to confirm what would be refused. It
// reports all faults together.
func acceptable(method, path string, body any) error {
	op, values, ok := operationOf(method, path)
	if !ok {
		return nil // the service reports what is wrong with the path
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r := &http.Request{Method: method, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text))}
	for name, value := range values {
		r.SetPathValue(name, value)
	}
	in := input.Of(r, op.Takes)
	in.Now, in.Settings = time.Now(), &setting.Values{}
	op.Reads(in)
	if err := in.Err(); err != nil {
		faults := slices.DeleteFunc(problem.From(err).Faults, func(f problem.Fault) bool {
			return f.Pointer == "/issuer" && f.Code == "unknown" // only the service knows its issuers
		})
		if len(faults) == 0 {
			return nil
		}
		for i, f := range faults {
			field, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
			if word := typedAs[field]; word != "" {
				faults[i].Pointer = word
			}
			if word := namedAs[f.Parameter]; word != "" {
				faults[i].Parameter = word
			}
		}
		return fail(Misused, "the request is not valid:%s", faultsOf(faults))
	}
	return nil
}

// typedAs maps fields to the options that set them, and namedAs maps parts of a path to words of a command's usage.
var (
	typedAs = map[string]string{
		"currentVersion": "VERSION", "artifactUrl": "--url", "artifactHttpUrl": "--http-url", "sha256": "--sha256", "tokenSha256": "--sha256", "part": "--part",
		"organizationId": "--organization", "factoryId": "--factory", "edgeType": "--channel", "channel": "--channel", "issuer": "--issuer",
		"name": "--name", "methodApproval": "--approval", "classes": "--class", "edgeId": "--box", "productId": "--product", "reason": "--reason", "overrideReason": "--override",
	}
	namedAs = map[string]string{"factoryId": "FACTORY", "code": "MACHINE", "methodId": "METHOD", "number": "VERSION", "edgeId": "BOX", "organizationId": "ORGANIZATION",
		"edgeType": "CHANNEL", "channel": "CHANNEL"}
)

// faultsOf lists faults, one per line, each with its place.
func faultsOf(faults []problem.Fault) string {
	lines := ""
	for _, f := range faults {
		lines += "\n  " + strings.TrimSpace(f.Pointer+f.Parameter+" "+f.Detail)
	}
	return lines
}
