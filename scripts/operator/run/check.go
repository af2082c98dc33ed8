package run

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

// OperationOf finds the operation that answers a call, with its path parameters still encoded.
func OperationOf(method, path string) (op operations.Operation, values map[string]string, ok bool) {
	for _, op := range table.All {
		if values, rest, ok := Match(op.Path, path); ok && rest == "" && op.Method == method {
			return op, values, true
		}
	}
	return op, nil, false
}

// Match reads the parameters of a path, if it begins like a pattern with {parameters}. rest is what follows.
func Match(pattern, path string) (values map[string]string, rest string, ok bool) {
	parts, segments := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(parts) > len(segments) {
		return nil, "", false
	}
	values = map[string]string{}
	for i, p := range parts {
		if name, is := strings.CutPrefix(p, "{"); is {
			values[strings.TrimSuffix(name, "}")] = segments[i]
		} else if p != segments[i] {
			return nil, "", false
		}
	}
	return values, strings.Join(segments[len(parts):], "/"), true
}

// Acceptable checks a call by the service's own rules, so that nobody is asked to confirm what would be refused. It
// reports all faults together.
func Acceptable(method, path string, body any) error {
	op, values, ok := OperationOf(method, path)
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
			// Only the service knows its issuers, and whether it keeps artifacts.
			return f.Pointer == "/issuer" && f.Code == "unknown" || f.Pointer == "/artifactUrl" && f.Code == "required"
		})
		if len(faults) == 0 {
			return nil
		}
		for i, f := range faults {
			field, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
			if word := TypedAs[field]; word != "" {
				faults[i].Pointer = word
			}
			if word := namedAs[f.Parameter]; word != "" {
				faults[i].Parameter = word
			}
		}
		return Fail(Misused, "the request is not valid:%s", FaultsOf(faults))
	}
	return nil
}

// TypedAs maps fields to the options that set them, and namedAs maps parts of a path to words of a command's usage.
var (
	TypedAs = map[string]string{
		"currentVersion": "VERSION", "artifactUrl": "--url", "artifactHttpUrl": "--http-url", "sha256": "--sha256", "tokenSha256": "--sha256", "part": "--part", "sizeBytes": "the file's size",
		"organizationId": "--organization", "factoryId": "--factory", "edgeType": "--channel", "channel": "--channel", "issuer": "--issuer",
		"name": "--name", "methodApproval": "--approval", "classes": "--class", "edgeId": "--box", "productId": "--product", "number": "--number", "productRevision": "--revision", "status": "--status", "reason": "--reason", "overrideReason": "--override",
	}
	namedAs = map[string]string{"factoryId": "FACTORY", "productId": "PRODUCT", "code": "MACHINE", "methodId": "METHOD", "number": "VERSION", "edgeId": "BOX", "organizationId": "ORGANIZATION",
		"edgeType": "CHANNEL", "channel": "CHANNEL"}
)

// FaultsOf lists faults, one per line, each with its place.
func FaultsOf(faults []problem.Fault) string {
	lines := ""
	for _, f := range faults {
		lines += "\n  " + strings.TrimSpace(f.Pointer+f.Parameter+" "+f.Detail)
	}
	return lines
}
