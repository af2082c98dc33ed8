package boxes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"wavegate/scripts/operator/run"
)

// A hawkbit is a hawkBit server, by its Management API. Nothing is changed there.
type hawkbit struct {
	url  string // without a slash at the end
	auth string // a user and a password, with a colon between them
	http *http.Client
}

// mostAnswer bounds an answer, and atOnceThere is how many boxes one has.
const (
	mostAnswer  = 64 << 20
	atOnceThere = 500
)

// get reads what is at a path. If there is nothing, into stays as it is.
func (h hawkbit) get(ctx context.Context, path string, query url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/rest/v1"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	user, password, _ := strings.Cut(h.auth, ":")
	r.SetBasicAuth(user, password)
	r.Header.Set("Accept", "application/json, application/hal+json")
	answer, err := h.http.Do(r)
	if err != nil {
		return run.Fail(run.Unknown, "%w", err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusNoContent:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return run.Fail(run.SignIn, "%s answers %s with %s: WAVEGATE_HAWKBIT must have a user, who may read targets and their tokens, and the password, as user:password", h.url, path, answer.Status)
	default:
		return run.Fail(run.Refused, "%s answers %s with %s", h.url, path, answer.Status)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(into); err != nil {
		return run.Fail(run.Refused, "%s answers %s with something that is not hawkBit's: %w", h.url, path, err)
	}
	return nil
}

// A target is a box there.
type target struct {
	ControllerID   string `json:"controllerId"`
	SecurityToken  string `json:"securityToken"`
	TargetTypeName string `json:"targetTypeName"`
}

// targets reads all boxes that a filter finds; empty: all.
func (h hawkbit) targets(ctx context.Context, filter string) (all []target, err error) {
	for {
		query := url.Values{"limit": {strconv.Itoa(atOnceThere)}, "offset": {strconv.Itoa(len(all))}, "sort": {"controllerId:ASC"}}
		if filter != "" {
			query.Set("q", filter)
		}
		var page struct {
			Content []target `json:"content"`
			Total   int      `json:"total"`
		}
		if err := h.get(ctx, "/targets", query, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Content...); len(page.Content) == 0 || len(all) >= page.Total {
			return all, nil
		}
	}
}

// switches says which tokens the server takes: those of targets, and that of a gateway; empty: it takes none.
func (h hawkbit) switches(ctx context.Context) (own bool, gateway string, err error) {
	var all map[string]struct {
		Value any `json:"value"`
	}
	err = h.get(ctx, "/system/configs", nil, &all)
	is := func(key string) string { return fmt.Sprint(all["authentication."+key].Value) }
	if is("gatewaytoken.enabled") == "true" {
		gateway = is("gatewaytoken.key")
	}
	return is("targettoken.enabled") == "true", gateway, err
}

// lastAction is the highest number of an action; 0: there is none.
func (h hawkbit) lastAction(ctx context.Context) (int64, error) {
	var page struct {
		Content []struct {
			ID int64 `json:"id"`
		} `json:"content"`
	}
	if err := h.get(ctx, "/actions", url.Values{"limit": {"1"}, "sort": {"id:DESC"}}, &page); err != nil || len(page.Content) == 0 {
		return 0, err
	}
	return page.Content[0].ID, nil
}

// guests reads all boxes, with those of some tags that they have, what they run if the server is trusted, and some attributes.
func (h hawkbit) guests(ctx context.Context, tags, attributes []string, trusted bool) (guests []guest, err error) {
	all, err := h.targets(ctx, "")
	if err != nil {
		return nil, err
	}
	tagged := map[string][]string{}
	for _, tag := range tags {
		of, err := h.targets(ctx, "tag=="+strconv.Quote(tag))
		if err != nil {
			return nil, err
		}
		for _, t := range of {
			tagged[t.ControllerID] = append(tagged[t.ControllerID], tag)
		}
	}
	for _, t := range all {
		g := guest{id: t.ControllerID, token: t.SecurityToken, kinds: tagged[t.ControllerID]}
		if t.TargetTypeName != "" {
			g.kinds = append(g.kinds, t.TargetTypeName)
		}
		if err := h.complete(ctx, &g, attributes, trusted); err != nil {
			return nil, err
		}
		guests = append(guests, g)
	}
	return guests, nil
}

// complete reads what needs a call for each box.
func (h hawkbit) complete(ctx context.Context, g *guest, attributes []string, trusted bool) error {
	path := "/targets/" + url.PathEscape(g.id)
	if trusted {
		var installed struct {
			Version string `json:"version"`
		}
		if err := h.get(ctx, path+"/installedDS", nil, &installed); err != nil {
			return err
		}
		g.version = installed.Version
	}
	if len(attributes) == 0 {
		return nil
	}
	var said map[string]string
	err := h.get(ctx, path+"/attributes", nil, &said)
	g.attributes = map[string]string{}
	for _, name := range attributes {
		if said[name] != "" {
			g.attributes[name] = said[name]
		}
	}
	return err
}
