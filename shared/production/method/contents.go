package method

import (
	"context"
	"fmt"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
)

// contentItem is a content under its hash.
type contentItem struct {
	MethodID string `json:"methodId"`
	SHA256   string `json:"sha256"`
	Bytes    string `json:"bytes"` // canonical, and so UTF-8
}

// storing is the write of a content. It has no condition: what lies under the hash are these bytes.
func storing(methodID string, c content.Content) dynamo.Part {
	return dynamo.PutPart("content", dynamo.MethodContents,
		contentItem{MethodID: methodID, SHA256: c.SHA256(), Bytes: string(c.Bytes())}, dynamo.Condition{})
}

// load returns the bytes of a content. Bytes that are not those of the hash are an error: nobody may
// produce by what someone else put there.
func (s *Store) load(ctx context.Context, methodID, hash string) ([]byte, error) {
	var item contentItem
	found, err := s.db.Get(ctx, dynamo.MethodContents, dynamo.Key{"methodId": methodID, "sha256": hash}, &item)
	if err != nil {
		return nil, err
	}
	if bytes := []byte(item.Bytes); found && canonical.SHA256(bytes) == hash {
		return bytes, nil
	}
	return nil, fmt.Errorf("method: the content %s of method %s is not what is stored under it", hash, methodID)
}

// parsed is load, read.
func (s *Store) parsed(ctx context.Context, v Version) (content.Content, error) {
	bytes, err := s.load(ctx, v.MethodID, v.ContentSHA256)
	if err != nil {
		return content.Content{}, err
	}
	c, faults := content.Parse(bytes)
	if len(faults) > 0 {
		return content.Content{}, fmt.Errorf("method: the stored content of %s has faults: %v", v.ID(), faults)
	}
	return c, nil
}

// Content returns a version and the bytes of its content, in a factory that the caller may know of. A box
// reads what is on trial or released in the factory where it stands. Anything else is NOT_FOUND.
func (s *Store) Content(ctx context.Context, caller auth.Principal, r Ref) (v Version, bytes []byte, err error) {
	if caller.Has(auth.Edge) {
		err = dynamo.Together(ctx,
			func(ctx context.Context) error { return s.stands(ctx, caller, r.FactoryID) },
			func(ctx context.Context) (err error) { v, err = s.lookup(ctx, r); return err })
		if err == nil && (v.FactoryID != r.FactoryID || v.Status != Trial && v.Status != Released) {
			err = problem.Missing()
		}
	} else {
		v, err = s.Version(ctx, caller, r)
	}
	if err != nil {
		return Version{}, nil, err
	}
	bytes, err = s.load(ctx, r.MethodID, v.ContentSHA256)
	return v, bytes, err
}

// A Comparison tells what changed from the content of one version to that of another.
type Comparison struct {
	Since   int64            `json:"since"`
	Version int64            `json:"version"`
	Changes []content.Change `json:"changes"`
}

// Changes lists what changed from the content of one version to that of another, in a factory that the
// caller may know of. It returns NOT_FOUND where one of them is not there.
func (s *Store) Changes(ctx context.Context, caller auth.Principal, since, r Ref) ([]content.Change, error) {
	return factory.Beside(ctx, s.factories, caller, r.FactoryID, func(ctx context.Context) ([]content.Change, error) {
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
