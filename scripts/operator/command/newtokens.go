package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/tokenfile"
)

// tokenFiles is the help text about the files.
const tokenFiles = "The token of box-0017 is in the file edge-box-0017.token of the directory; a colon in an id is a + in the name.\n" +
	"The directory has the mode 0700, its files have 0600, and git ignores it."

// newTokens are the tokens that the boxes of a file get. Nil: they get none.
type newTokens struct {
	app *app
	dir tokenfile.Dir

	seen    map[string]string // by an id in lower case, the id
	missing []boxLine         // boxes without a file
	there   int               // boxes with a file
	bad     []string
	made    int
}

// newTokens checks the directory.
func (a *app) newTokens(dir string) (*newTokens, error) {
	n := &newTokens{app: a, dir: tokenfile.Dir{Path: dir, Disk: a.Disk}, seen: map[string]string{}}
	if err := n.dir.Check(); err != nil {
		return nil, fail(Misused, "%w", err)
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
func (n *newTokens) faults(ctx context.Context, c *api.Client) ([]string, error) {
	if n == nil {
		return nil, nil
	}
	if len(n.bad) > 0 {
		return n.bad, nil
	}
	of := map[string][]string{}
	line := map[string]int{}
	for _, b := range n.missing {
		id := b.fields["edgeId"]
		of[b.fields["organizationId"]] = append(of[b.fields["organizationId"]], id)
		line[id] = b.line
	}
	for _, organization := range slices.Sorted(maps.Keys(of)) {
		query := url.Values{"organizationId": {organization}, "limit": {"100"}}
		if prefix := beginning(of[organization]); prefix != "" {
			query.Set("idPrefix", prefix)
		}
		err := c.Pages(ctx, "/api/edges", query, func(page api.Response) (bool, error) {
			var list struct{ Items []box }
			err := page.Into(&list)
			for _, b := range list.Items {
				if line[b.EdgeID] > 0 && b.TokenSetAt != nil {
					n.bad = append(n.bad, fmt.Sprintf("line %d: %s has a token, but its file is not in %s; to replace it: wavegate tokens renew", line[b.EdgeID], b.EdgeID, n.dir.Path))
				}
			}
			return true, err
		})
		refused, ok := errors.AsType[*api.RefusedError](err)
		if ok && refused.Status == http.StatusForbidden {
			continue // a person who cannot read this cannot replace a token either
		}
		if err != nil {
			return nil, err
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

func (n *newTokens) tell() {
	if n != nil {
		n.app.say("%d %s made; all are in %s", n.made, noun(n.made, "token was", "tokens were"), n.dir.Path)
	}
}
