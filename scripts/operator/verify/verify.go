// Package verify compares a production method with the audit trail: the chain of its changes, and what the service
// shows and serves now. It reads everything through the API, as an auditor can.
package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/production/chain"
	"wavegate/shared/trail/audit"
)

// Get reads a path of the API, which begins with /api, and returns the body of the answer.
type Get func(ctx context.Context, path string) ([]byte, error)

// A Conclusion is the result of a comparison.
type Conclusion struct {
	Links    []chain.Link
	Findings []string // what is wrong; empty if everything agrees
	// Unseen says what was not compared: what the caller may not read, and what a function of an earlier release does not show.
	Unseen []string
}

var errNothing = errors.New("the method has no version yet, so there is nothing to verify")

// Method compares a method of a factory with the trail, and looks for the hashes that machines kept. It is an error
// if there is nothing to compare.
func Method(ctx context.Context, get Get, factory, method string, kept []chain.Kept) (Conclusion, error) {
	return MethodAt(ctx, time.Now(), get, factory, method, kept)
}

// MethodAt is Method at another time: a recall that is not confirmed by then has a warning.
func MethodAt(ctx context.Context, now time.Time, get Get, factory, method string, kept []chain.Kept) (r Conclusion, err error) {
	c := comparison{get: get, now: now, factory: "/api/factories/" + url.PathEscape(factory), method: method}
	head, err := c.object(ctx, c.path())
	if err != nil {
		return r, err
	}
	methodEvents, err := c.events(ctx, "production-method", method)
	if err != nil {
		return r, err
	}
	if _, err := c.compare(chain.Subject{Name: "the method", Shown: head, Events: methodEvents, Grown: audit.Grown("production-method")}); err != nil {
		return r, err
	}
	owner, err := c.object(ctx, c.factory)
	if err != nil {
		return r, err
	}
	c.rule, _ = owner["methodApproval"].(string)
	c.organization, _ = owner["organizationId"].(string)
	if err := c.ruled(ctx, owner); err != nil {
		return r, err
	}
	versionEvents, err := c.versions(ctx)
	if err != nil {
		return r, err
	}
	if len(versionEvents) == 0 {
		return r, errNothing
	}
	if err := c.recalls(ctx); err != nil {
		return r, err
	}
	if err := c.found(ctx, head); err != nil {
		return r, err
	}
	if r.Links, err = chain.Check(methodEvents, versionEvents); err != nil {
		return r, err
	}
	for _, l := range r.Links {
		if l.Fault != "" {
			c.add("%s of %s: %s", l.EventName, l.EventTime.UTC().Format("2006-01-02T15:04:05.000Z"), l.Fault)
		}
	}
	if last := r.Links[len(r.Links)-1].SHA256; head["trailSha256"] != last {
		c.add("the method's hash is %v, and the chain ends with %s", head["trailSha256"], last)
	}
	for _, k := range kept {
		if fault := k.Find(r.Links); fault != "" {
			c.add("%s", fault)
		}
	}
	r.Findings, r.Unseen = c.findings, c.unseen
	return r, nil
}

type comparison struct {
	get                Get
	now                time.Time
	factory, method    string
	findings, unseen   []string
	loaded             map[string][]audit.Event // by resource; nil: see load
	versionsInTrail    []version
	said               map[string]report // by machine
	rule, organization string            // of the factory
}

func (c *comparison) add(format string, args ...any) {
	c.findings = append(c.findings, fmt.Sprintf(format, args...))
}

func (c *comparison) path() string { return c.factory + "/production-methods/" + c.method }

// compare compares a resource with its events, and returns its state according to them, or as shown if there are none.
func (c *comparison) compare(r chain.Subject) (state map[string]any, err error) {
	found, err := r.Compare()
	c.findings, c.unseen = append(c.findings, found.Findings...), append(c.unseen, found.Unshown...)
	if found.State == nil {
		return r.Shown, err
	}
	return found.State, err
}

// ruled compares the factory with its events, which not everybody may read.
func (c *comparison) ruled(ctx context.Context, shown map[string]any) error {
	query := url.Values{"resourceType": {"factory"}, "resourceId": {fmt.Sprint(shown["factoryId"])}, "limit": {"100"}}
	var events []audit.Event
	if err := walk(ctx, c.get, "/api/audit-events?"+query.Encode(), func(e audit.Event) { events = append(events, e) }); err != nil {
		c.unseen = append(c.unseen, "the factory's rule for approvals: its changes cannot be read: "+err.Error())
		return ctx.Err()
	}
	_, err := c.compare(chain.Subject{Name: "the factory", Shown: shown, Events: events, Grown: audit.Grown("factory")})
	return err
}

// versions compares all versions with their events, and their contents with what was signed.
func (c *comparison) versions(ctx context.Context) (all []audit.Event, err error) {
	shown := map[string]map[string]any{}
	err = c.pages(ctx, c.path()+"/versions?limit=100", func(v map[string]any) { shown[fmt.Sprint(v["version"])] = v })
	if err != nil {
		return nil, err
	}
	if err := c.load(ctx, len(shown)+1); err != nil {
		return nil, err
	}
	// Numbers are consecutive, so a later version than the shown ones has the next number.
	found, err := each(ctx, len(shown)+1, func(ctx context.Context, i int) ([]audit.Event, error) {
		return c.events(ctx, "production-method-version", c.method+":"+strconv.Itoa(i+1))
	})
	if err != nil {
		return nil, err
	}
	contents, err := each(ctx, len(shown), func(ctx context.Context, i int) (served, error) {
		bytes, err := c.get(ctx, c.path()+"/versions/"+strconv.Itoa(i+1)+"/content")
		return served{bytes, err}, ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for i, events := range found {
		number := strconv.Itoa(i + 1)
		v, is := shown[number]
		delete(shown, number)
		all = append(all, events...)
		name := "version " + number
		if !is {
			if len(events) > 0 {
				c.add("%s is in the trail, and the service does not show it", name)
			}
			continue
		}
		state, err := c.compare(chain.Subject{Name: name, Shown: v, Events: events, Grown: audit.Grown("production-method-version")})
		if err != nil {
			return nil, err
		}
		c.content(name, contents[min(i, len(contents)-1)], state)
		if err := c.approved(name, state); err != nil {
			return nil, err
		}
	}
	for number := range shown {
		c.add("version %s is shown, and the trail does not have it", number)
	}
	return all, nil
}

// served is what the service answers to a read of a content.
type served struct {
	bytes []byte
	err   error
}

// content compares the served bytes of a version with what the trail says of it.
func (c *comparison) content(name string, content served, state map[string]any) {
	signed := state["contentSha256"]
	if content.err != nil {
		c.add("%s: the service cannot serve its content %s: %v", name, signed, content.err)
	} else if hash := canonical.SHA256(content.bytes); hash != signed {
		c.add("%s: the content that is served has the hash %s, and the trail says %s", name, hash, signed)
	}
}

// found looks for the method in the lists by product and by status.
func (c *comparison) found(ctx context.Context, head map[string]any) error {
	latest, _ := head["latest"].(map[string]any)
	for name, value := range map[string]any{"productId": head["productId"], "status": latest["status"]} {
		found := false
		query := url.Values{name: {fmt.Sprint(value)}, "limit": {"100"}}
		err := c.pages(ctx, c.factory+"/production-methods?"+query.Encode(), func(m map[string]any) { found = found || m["methodId"] == c.method })
		if err != nil {
			return err
		}
		if !found {
			c.add("the list of methods by %s does not have the method", name)
		}
	}
	return nil
}

func (c *comparison) object(ctx context.Context, path string) (object map[string]any, err error) {
	body, err := c.get(ctx, path)
	if err == nil {
		err = json.Unmarshal(body, &object)
	}
	return object, err
}

// load reads all changes in the factory, the newest first, if these are fewer than the requests that it saves: four pages are
// one for each resource. It is called after the resources were read, so that it has their last events.
func (c *comparison) load(ctx context.Context, resources int) error {
	all, path := map[string][]audit.Event{}, c.factory+"/audit-events?limit=100"
	c.loaded = nil
	for range resources / 4 {
		next := ""
		err := walk(ctx, func(ctx context.Context, path string) ([]byte, error) {
			body, err := c.get(ctx, path)
			if err != nil {
				return nil, err
			}
			var page struct {
				Items json.RawMessage `json:"items"`
				Next  string          `json:"next"`
			}
			err = json.Unmarshal(body, &page)
			next = page.Next
			return []byte(`{"items":` + string(page.Items) + `}`), err
		}, path, func(e audit.Event) {
			of := e.Resource.Type + " " + e.Resource.ID
			all[of] = append(all[of], e)
		})
		if err != nil {
			return err
		}
		if path = next; path == "" {
			c.loaded = all
			return nil
		}
	}
	return nil
}

func (c *comparison) events(ctx context.Context, kind, id string) (all []audit.Event, err error) {
	if c.loaded != nil {
		return c.loaded[kind+" "+id], nil
	}
	query := url.Values{"resourceType": {kind}, "resourceId": {id}, "limit": {"100"}}
	err = walk(ctx, c.get, c.factory+"/audit-events?"+query.Encode(), func(e audit.Event) { all = append(all, e) })
	return all, err
}

func (c *comparison) pages(ctx context.Context, path string, each func(map[string]any)) error {
	return walk(ctx, c.get, path, each)
}

// walk reads all pages of a list.
func walk[T any](ctx context.Context, get Get, path string, each func(T)) error {
	for path != "" {
		body, err := get(ctx, path)
		if err != nil {
			return err
		}
		var page struct {
			Items []T    `json:"items"`
			Next  string `json:"next"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			each(item)
		}
		path = page.Next
	}
	return nil
}

// Parse parses what a machine kept: HASH, or HASH:VERSION:CONTENT.
func Parse(text string) (k chain.Kept, err error) {
	hash, rest, more := strings.Cut(text, ":")
	k.Hash = hash
	if more {
		number, content, _ := strings.Cut(rest, ":")
		k.Content = content
		k.Version, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil || !isHash(k.Hash) || more && (k.Version < 1 || !isHash(k.Content)) {
		return k, fmt.Errorf("%q is not HASH or HASH:VERSION:CONTENT", text)
	}
	return k, nil
}

func isHash(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}
