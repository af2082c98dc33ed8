package method

import (
	"context"
	"errors"
	"fmt"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
)

// errContent is why a stored content cannot be used, however often it is read.
var errContent = errors.New("method: stored bytes")

type contentItem struct {
	MethodID string `json:"methodId"`
	SHA256   string `json:"sha256"`
	Bytes    string `json:"bytes"` // canonical JSON, which is UTF-8
}

// putContent writes a content. It needs no condition, because only these bytes have this hash.
func putContent(methodID string, c content.Content) dynamo.TransactItem {
	return dynamo.TransactPut("content", dynamo.MethodContents, nil,
		contentItem{MethodID: methodID, SHA256: c.SHA256(), Bytes: string(c.Bytes())}, dynamo.Condition{})
}

// load returns the bytes of a content. It fails if the bytes do not match the hash, so that nobody produces with
// tampered content.
func (s *Store) load(ctx context.Context, methodID, hash string) ([]byte, error) {
	var item contentItem
	found, err := s.db.Get(ctx, dynamo.MethodContents, dynamo.Key{"methodId": methodID, "sha256": hash}, &item)
	if err != nil {
		return nil, err
	}
	if bytes := []byte(item.Bytes); found && canonical.SHA256(bytes) == hash {
		return bytes, nil
	}
	return nil, fmt.Errorf("%w: those with the hash %s of method %s do not match it", errContent, hash, methodID)
}

func (s *Store) parsed(ctx context.Context, v Version) (content.Content, error) {
	bytes, err := s.load(ctx, v.MethodID, v.ContentSHA256)
	if err != nil {
		return content.Content{}, err
	}
	c, faults := content.Parse(bytes)
	if len(faults) > 0 {
		return content.Content{}, unreadable(v, faults)
	}
	return c, nil
}

func unreadable(v Version, faults []problem.Fault) error {
	return fmt.Errorf("%w: %s has faults: %v", errContent, v.ID(), faults)
}

// forMachines reports whether machines may have the content of a version: its content was approved, and it is on trial
// or released, or orders under way may finish with it.
func (v Version) forMachines() bool {
	return v.approvedOnce() && (v.Status == Trial || v.Status == Released || v.Status == Withdrawn && v.Orders == Finish)
}

// Content returns a version and the bytes of its content, in a factory that the caller may read. A box may only read
// contents for machines in its own factory. Otherwise the error is NOT_FOUND.
func (s *Store) Content(ctx context.Context, caller auth.Principal, r Ref) (v Version, bytes []byte, err error) {
	if caller.Has(auth.Edge) {
		err = dynamo.Together(ctx,
			func(ctx context.Context) error { return s.checkAccess(ctx, caller, r.FactoryID) },
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, r); return err })
		if err == nil && (v.FactoryID != r.FactoryID || !v.forMachines()) {
			err = problem.Missing()
		}
	} else {
		_, err = factory.ReadInParallel(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) (_ Version, err error) {
			v, err = s.lookup(ctx, r)
			return v, err
		})
		if err == nil && v.FactoryID != r.FactoryID {
			err = problem.Missing()
		}
	}
	if err != nil {
		return Version{}, nil, err
	}
	bytes, err = s.load(ctx, r.MethodID, v.ContentSHA256)
	return v, bytes, err
}

// A Comparison is the list of changes between the contents of two versions.
type Comparison struct {
	Since   int64            `json:"since"`
	Version int64            `json:"version"`
	Changes []content.Change `json:"changes"`
}

// Changes lists the changes from the content of one version to that of another, in a factory
// that the caller may read. It returns NOT_FOUND if one of them does not exist.
func (s *Store) Changes(ctx context.Context, caller auth.Principal, since, r Ref) ([]content.Change, error) {
	return factory.ReadInParallel(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) ([]content.Change, error) {
		var contents [2]content.Content
		one := func(i int, r Ref) func(context.Context) error {
			return func(ctx context.Context) error {
				v, err := s.lookup(ctx, r)
				if err != nil {
					return err
				}
				if v.FactoryID != r.FactoryID {
					return problem.Missing()
				}
				contents[i], err = s.parsed(ctx, v)
				return err
			}
		}
		if err := dynamo.Together(ctx, one(0, since), one(1, r)); err != nil {
			return nil, err
		}
		return content.Diff(contents[0], contents[1])
	})
}
