package release

import (
	"context"
	"strings"

	"wavegate/shared/platform/dynamo"
)

// mostShelves is how many shelves of releases a page of a search reads: some MB. A page that has read so many may have fewer
// items than it may have.
const mostShelves = 2000

// Containing returns the releases that contain a component, by their edge types and versions, with its versions in them. A page may be
// partial.
func (s *Store) Containing(ctx context.Context, name string, w dynamo.Span) (page dynamo.Page[Containing], err error) {
	var found []Containing
	most, read := w.Skip+w.Limit, 0
	key, _, _ := strings.Cut(strings.TrimSuffix(w.After, beyond), " ")
	of := dynamo.Selection{Table: dynamo.Releases, Partition: shelfOf(name)}
	if key != "" {
		of.Least, of.Most = key, "~"
	}
	err = dynamo.Walk(ctx, s.db, of, nil, 0, func(on shelf) error {
		if read++; read > mostShelves {
			page.More = true
			return dynamo.ErrEnough
		}
		list := on.containing(name, w.After)
		if rest := most - len(found); len(list) > rest {
			page.More = true
			if found = append(found, list[:rest]...); rest > 0 {
				page.Last = list[rest-1].place
			}
			return dynamo.ErrEnough
		}
		found, page.Last = append(found, list...), on.Key+beyond
		return nil
	})
	if err != nil {
		return page, err
	}
	known, err := s.knownOf(ctx, found)
	if err != nil {
		return page, err
	}
	for _, c := range found {
		switch {
		case known[Pair(c.EdgeType, c.Version)] != c.SBOM:
		case w.Skip > 0:
			w.Skip--
		default:
			page.Items = append(page.Items, c)
		}
	}
	page.Skip = w.Skip
	return page, nil
}

// knownOf are the SBOMs that searches answer from, by the releases of what was found.
func (s *Store) knownOf(ctx context.Context, found []Containing) (map[string]string, error) {
	known, keys := map[string]string{}, []dynamo.Key(nil)
	for _, c := range found {
		if pair := Pair(c.EdgeType, c.Version); known[pair] == "" {
			known[pair] = "?"
			keys = append(keys, saidKey(Named{c.EdgeType, c.Version}))
		}
	}
	all, err := dynamo.GetAll[Said](ctx, s.db, dynamo.Releases, keys)
	for _, is := range all {
		known[is.ID], _ = is.known()
	}
	return known, err
}
