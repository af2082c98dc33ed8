package method

import (
	"context"
	"errors"
	"sync"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/content"
	"wavegate/shared/production/machine"
)

// Routes remember the steps of contents in a container. The bytes with a hash never change, so a poll reads each content once.
type routes struct {
	mu    sync.Mutex
	kept  map[contentID][]content.Stop
	stops int // in kept
}

// A contentID names a content.
type contentID struct{ method, sha256 string }

// mostStops limits how many steps are remembered, of contents of all factories; beyond it, all is forgotten.
const mostStops = 20_000

// of returns the steps of the contents that hold or will hold by some methods. It reads those that the container has not read. One
// that cannot be used has no steps: a controller has to learn of a withdrawal all the same.
func (r *routes) of(ctx context.Context, s *Store, methods []Method) (map[contentID][]content.Stop, error) {
	found := map[contentID][]content.Stop{}
	var reads []func(context.Context) error
	r.mu.Lock()
	for _, m := range methods {
		for _, d := range m.Effectivity {
			id := contentID{m.MethodID, d.ContentSHA256}
			if route, known := r.kept[id]; known {
				found[id] = route
				continue
			}
			if _, twice := found[id]; twice {
				continue
			}
			found[id] = nil
			reads = append(reads, func(ctx context.Context) error {
				c, err := s.parsed(ctx, Version{MethodID: id.method, ContentSHA256: id.sha256})
				if err != nil && !errors.Is(err, errContent) {
					return err
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				found[id] = c.Route()
				r.keep(id, found[id])
				return nil
			})
		}
	}
	r.mu.Unlock()
	return found, dynamo.Together(ctx, reads...)
}

// keep remembers steps. The caller holds the lock.
func (r *routes) keep(id contentID, route []content.Stop) {
	if r.kept == nil || r.stops > mostStops {
		r.kept, r.stops = map[contentID][]content.Stop{}, 0
	}
	r.kept[id], r.stops = route, r.stops+len(route)+1
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
			found, err := s.db.Get(ctx, dynamo.Machines, dynamo.Key{"factoryId": r.FactoryID, "code": code}, &x)
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
