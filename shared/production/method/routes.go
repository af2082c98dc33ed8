package method

import (
	"context"
	"sync"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"

	"wavegate/shared/access/auth"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
)

// Routes remember the steps of contents in a container. The bytes with a hash never change, so a poll reads each content once.
type routes struct {
	mu   sync.Mutex
	kept map[string][]content.Stop // by method and hash
}

// mostRoutes limits what is remembered; beyond it, all is forgotten.
const mostRoutes = 200

// of returns how to find the steps of a method's contents. They are unknown if a content cannot be read: a controller that cannot
// learn its steps has to learn of a withdrawal all the same.
func (r *routes) of(ctx context.Context, s *Store, methodID string) func(sha256 string) []content.Stop {
	return func(sha256 string) []content.Stop {
		id := methodID + "#" + sha256
		r.mu.Lock()
		route, known := r.kept[id]
		r.mu.Unlock()
		if known {
			return route
		}
		c, err := s.parsed(ctx, Version{MethodID: methodID, ContentSHA256: sha256})
		if err != nil {
			return nil
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.kept == nil || len(r.kept) >= mostRoutes {
			r.kept = map[string][]content.Stop{}
		}
		r.kept[id] = c.Route()
		return r.kept[id]
	}
}

// A MachineContent is a content with what of it is for one machine.
type MachineContent struct {
	MethodID string `json:"methodId"`
	Version  int64  `json:"version"`
	Machine  string `json:"machine"`
	// ContentSHA256 is the hash of the bytes of Content, which are those that people signed.
	ContentSHA256 string      `json:"contentSha256"`
	Content       string      `json:"content"`
	For           content.For `json:"for"`
}

// ContentFor returns the content of a version with what of it is for a machine. The caller may be a box, as with Content.
// Whether the version holds on the machine is what polls say.
func (s *Store) ContentFor(ctx context.Context, caller auth.Principal, r Ref, code string) (MachineContent, error) {
	var x machine.Machine
	var v Version
	var bytes []byte
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { v, bytes, err = s.Content(ctx, caller, r); return err },
		func(ctx context.Context) error {
			found, err := s.db.GetEventually(ctx, dynamo.Machines, dynamo.Key{"factoryId": r.FactoryID, "code": code}, &x)
			if err == nil && !found {
				err = problem.Missing()
			}
			return err
		})
	if err != nil {
		return MachineContent{}, err
	}
	c, faults := content.Parse(bytes)
	if len(faults) > 0 {
		return MachineContent{}, unreadable(v, faults)
	}
	return MachineContent{MethodID: r.MethodID, Version: v.Version, Machine: code, ContentSHA256: v.ContentSHA256, Content: string(bytes),
		For: c.For(code, func(step content.Stop) bool { return does(x, step) })}, nil
}

// Encode returns the answer's bytes and their entity tag.
func (c MachineContent) Encode() (body []byte, etag string, err error) {
	if body, err = timestamp.JSON(c); err != nil {
		return nil, "", err
	}
	return body, tagOf(body), nil
}
