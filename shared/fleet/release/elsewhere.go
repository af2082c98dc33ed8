package release

import (
	"context"
	"slices"
)

// Elsewhere names a channel of an edge type that is not the caller's own and that carries one of some versions, now or as
// far as its row remembers; empty: there is none.
func (s *Store) Elsewhere(ctx context.Context, edgeType string, own func(edgeType, channel string) bool, versions ...string) (channel string, err error) {
	if len(versions) == 0 {
		return "", nil
	}
	err = s.EachRow(ctx, edgeType, func(r ChannelRow) {
		if channel == "" && !own(edgeType, r.Channel.Channel) && slices.ContainsFunc(versions, r.Knows) {
			channel = r.ID()
		}
	})
	return channel, err
}

// Using lists the versions of an edge type whose bytes or documents have a digest.
func (s *Store) Using(ctx context.Context, edgeType, sum string) (versions []string, err error) {
	err = s.Each(ctx, edgeType, func(r Release) {
		if r.SHA256 == sum {
			versions = append(versions, r.Version)
		}
	})
	if err != nil {
		return nil, err
	}
	said, err := s.SaidOf(ctx, edgeType)
	for version, is := range said {
		if slices.Contains(is.Kept(), sum) {
			versions = append(versions, version)
		}
	}
	return versions, err
}
