package boxes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/fleet/edge"
)

// tokenFiles is the help text about the files.
const tokenFiles = "The token of box-0017 is in the file edge-box-0017.token of the directory; a colon in an id is a + in the name. " +
	"The directory has the mode 0700, its files have 0600, and git ignores it."

// newTokens are the tokens that the boxes of a file get. Nil: they get none.
type newTokens struct {
	dir tokenfile.Dir

	seen    map[string]string // by an id in lower case, the id
	missing []boxLine         // boxes without a file
	there   int               // boxes with a file
	bad     []string
	made    int
}

// tokensIn checks the directory.
func tokensIn(r *run.Run, dir string) (*newTokens, error) {
	n := &newTokens{dir: tokenfile.Dir{Path: dir, Disk: r.Disk}, seen: map[string]string{}}
	if err := n.dir.Check(); err != nil {
		return nil, run.Fail(run.Misused, "%w", err)
	}
	return n, nil
}

// look checks the token file of a box. where is the place in the input, for errors.
func (n *newTokens) look(where string, b boxLine) {
	if n == nil {
		return
	}
	id := b.fields["edgeId"]
	folded := strings.ToLower(id)
	if other := n.seen[folded]; other != "" {
		n.bad = append(n.bad, fmt.Sprintf("%s: edgeId %s differs from %s only in case; not every disk can keep both files", where, id, other))
	}
	n.seen[folded] = id
	there, err := n.dir.Has(id)
	switch {
	case err != nil:
		n.bad = append(n.bad, fmt.Sprintf("%s: %v", where, err))
	case there:
		n.there++
	default:
		n.missing = append(n.missing, b)
	}
}

// faults returns the lines of boxes that cannot get a token. A box that has a token without a file keeps it: the box
// may be running, and would lose its access some day.
func (n *newTokens) faults(ctx context.Context, c *run.Call) ([]string, error) {
	if n == nil {
		return nil, nil
	}
	if len(n.bad) > 0 {
		return n.bad, nil
	}
	of := map[string][]string{}
	line := map[string]int{}
	for _, b := range n.missing {
		id, organization := b.fields["edgeId"], b.fields["organizationId"]
		of[organization] = append(of[organization], id)
		line[id] = b.line
	}
	for _, organization := range slices.Sorted(maps.Keys(of)) {
		query := run.Query("organizationId", organization, "idPrefix", beginning(of[organization]))
		boxes, err := api.All[edge.Edge](ctx, c.Client, "/api/edges", query, 0)
		if err != nil && !run.Forbidden(err) { // a person who cannot read this cannot replace a token either
			return nil, err
		}
		for _, b := range boxes {
			if line[b.EdgeID] > 0 && b.TokenSetAt != nil {
				n.bad = append(n.bad, fmt.Sprintf("line %d: %s has a token, but its file is not in %s; to replace it: wavegate tokens renew", line[b.EdgeID], b.EdgeID, n.dir.Path))
			}
		}
	}
	return n.bad, nil
}

// beginning is the longest common prefix of the texts.
func beginning(texts []string) string {
	least, most := slices.Min(texts), slices.Max(texts)
	i := 0
	for i < len(least) && least[i] == most[i] {
		i++
	}
	return least[:i]
}

// with describes the tokens that the boxes get.
func (n *newTokens) with() string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(", each with a token of its own (%d new, %d already in %s)", len(n.missing), n.there, n.dir.Path)
}

func (n *newTokens) prepare() error {
	if n == nil {
		return nil
	}
	return n.dir.Prepare()
}

// give sets the token hash of each box of a batch. By then, the tokens are on the disk.
func (n *newTokens) give(batch []boxLine) error {
	if n == nil {
		return nil
	}
	ids := make([]string, len(batch))
	for i, b := range batch {
		ids[i] = b.fields["edgeId"]
	}
	hashes, made, err := n.dir.Hashes(ids)
	n.made += made
	for i := range hashes {
		batch[i].fields["tokenSha256"] = hashes[i]
	}
	return err
}
