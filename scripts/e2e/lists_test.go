package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// A list of the service, with its sample's call and more than a page of items.
type list struct {
	grow    func(t testing.TB) // adds as many items again
	caller  *harness.Caller
	path    string
	filter  url.Values
	factory string // of the path; empty: none
	series  bool   // uses cursor instead of offset
}

// with returns the path with the sample's filter and further parameters.
func (l list) with(name, value string) string {
	query := url.Values{name: {value}}
	maps.Copy(query, l.filter)
	return l.path + "?" + query.Encode()
}

// lists makes items for all lists of the service, in its own organization.
func lists(t testing.TB, w *harness.World, organization string) map[string]list {
	t.Helper()
	session, all := w.Session(t, samples.Fresh(harness.Name)), map[string]list{}
	session.Values["organization"], session.Name = organization, harness.Name
	for _, s := range samples.All {
		if !samples.Lists(s.Operation) {
			continue
		}
		call := expect.Value(session.Prepare(s.Operation, s.Cases[0]))(t)
		path, query, _ := strings.Cut(call.Path, "?")
		filter := expect.Value(url.ParseQuery(query))(t)
		filter.Del("limit")
		l := list{caller: w.By(t, call), path: path, filter: filter, factory: call.Parameters["factoryId"]}
		values := maps.Clone(session.Values)
		l.grow = func(t testing.TB) {
			t.Helper()
			session.Values = maps.Clone(values)
			expect.Value(session.Prepare(s.Operation, s.Cases[0]))(t)
		}
		l.series = pageOf(t, l.caller, call.Path).Offset == nil
		switch s.Operation {
		case "list-rollout-history":
			remember(t, w, call.Parameters["id"])
		case "list-edge-history", "list-release-edges":
			stays(t, w, cmp.Or(call.Parameters["edgeId"], harness.Name("box")), cmp.Or(call.Parameters["edgeType"], "gateway-x"), cmp.Or(call.Parameters["version"], "0.9.9"), organization)
		}
		all[s.Operation] = l
	}
	return all
}

// stays adds ten stays on a version to the history of a box, which would take a box many polls.
func stays(t testing.TB, w *harness.World, box, edgeType, version, organization string) {
	t.Helper()
	for i := range 10 {
		at := time.Unix(int64(60*i), 0).UTC()
		p := report.Spell{EdgeID: box, EdgeType: edgeType, Version: version, OrganizationID: organization, Channel: "stable", RanAt: &at, EndedAt: &at, End: report.Replaced}
		put(t, w, dynamo.Stays, p.Past())
	}
}

// put stores an item.
func put(t testing.TB, w *harness.World, table dynamo.TableID, value any) {
	t.Helper()
	item, err := dynamo.Encode(value)
	if err == nil {
		_, err = w.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(table)), Item: item})
	}
	expect.OK(t, err)
}

// remember adds ten minutes to the history of a rollout, which would take a tick ten minutes.
func remember(t testing.TB, w *harness.World, rollout string) {
	t.Helper()
	hour := census.Hour{Subject: rollout, Part: census.HourPart(time.Unix(0, 0)), Revision: 1}
	for i := range 10 {
		hour, _ = hour.With(census.Snapshot{At: time.Unix(int64(60*i), 0).UTC(), StagedPercent: 1})
	}
	put(t, w, dynamo.Progress, hour)
}

// A plant is an organization with a factory that has something of every kind.
type plant struct {
	owner, engineer, admin *harness.Caller
	organization           string
	edgeType               string
	factory                string // path
	rollout                string // path
}

const product = "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"

// newPlant makes one of everything, and five machines, methods and channels.
func newPlant(t testing.TB, w *harness.World) plant {
	t.Helper()
	p := plant{owner: w.Owner(t), organization: harness.Name("acme"), edgeType: harness.Name("gateway")}
	p.engineer, p.admin = w.Engineer(t, p.organization), w.Admin(t, p.organization)
	p.factory = "/api/factories/" + harness.Name("munich")
	p.owner.Put(t, p.factory, fmt.Sprintf(`{"organizationId":%q,"name":"Munich"}`, p.organization)).Is(t, http.StatusCreated)
	for i := range 5 {
		p.engineer.Put(t, fmt.Sprintf("%s/machines/press-%d", p.factory, i), `{"name":"Press"}`).Is(t, http.StatusCreated)
		p.engineer.Post(t, p.factory+"/production-methods", fmt.Sprintf(`{"productId":%q,"name":"Milling"}`, product)).Is(t, http.StatusCreated)
		p.owner.Put(t, channelPath(p.edgeType, fmt.Sprintf("beta-%d", i)), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	}
	p.rollout = start(t, p.owner, p.edgeType)
	return p
}

// page is the answer of a list.
type page struct {
	Items  []map[string]any `json:"items"`
	Limit  int              `json:"limit"`
	Offset *int             `json:"offset"`

	Partial bool   `json:"partial"`
	Next    string `json:"next"`
}

func pageOf(t testing.TB, c *harness.Caller, path string) page {
	t.Helper()
	a := c.Get(t, path).Is(t, http.StatusOK)
	var p page
	a.Into(t, &p)
	link := a.Header.Get("Link")
	if p.Items == nil || p.Next != "" && link != "<"+p.Next+`>; rel="next"` || p.Next == "" && link != "" {
		t.Fatalf("%s: %s with Link %q", path, a.Body, link)
	}
	return p
}

// walk follows next from the first page and returns the values of a field, or the items without one.
func walk(t testing.TB, c *harness.Caller, path, field string) []string {
	t.Helper()
	base := expect.Value(url.Parse(c.URL))(t)
	var seen []string
	for path != "" {
		p := pageOf(t, c, path)
		for _, item := range p.Items {
			if value, there := item[field]; there {
				seen = append(seen, fmt.Sprint(value))
			} else {
				seen = append(seen, fmt.Sprint(item))
			}
		}
		if p.Next != "" && (!strings.HasPrefix(p.Next, base.Path+"/api/") || len(p.Items) != p.Limit && !p.Partial) {
			t.Fatalf("%s: a page of %d of %d items, next %q", path, len(p.Items), p.Limit, p.Next)
		}
		path = strings.TrimPrefix(p.Next, base.Path)
	}
	return seen
}

func TestLists_WalkedByNext_WithAndWithoutAStage_GiveEveryItemOnce(t *testing.T) {
	t.Parallel()
	often := withSettings("LIMIT_USER=6000") // pages of one item are many calls
	walks := func(stage string, world *harness.World, sizes []string) {
		for operation, l := range lists(t, world, "acme") {
			t.Run(stage+" "+operation, func(t *testing.T) { walkBySizes(t, l, sizes) })
			// Boxes, releases and components are only listed by a filter.
			if l.filter = nil; !slices.Contains([]string{"list-edges", "list-rollout-edges", "list-releases", "list-components"}, operation) {
				t.Run(stage+" "+operation+", unfiltered", func(t *testing.T) { walkBySizes(t, l, sizes) })
			}
		}
	}
	sizes := []string{"1", "2", "3", "5", "7"}
	walks("", harness.New(t, often), sizes)
	walks("/prod", harness.New(t, often, harness.WithPrefix("/prod")), expect.Long(sizes[3:4], sizes)) // only the paths are others
}

// walkBySizes walks a list in pages of several sizes: each time, every item comes once, in the same order.
func walkBySizes(t *testing.T, l list, sizes []string) {
	t.Helper()
	all := walk(t, l.caller, l.with("limit", "100"), "")
	expect.Must(t, len(all) >= 11 && len(slices.Compact(slices.Sorted(slices.Values(all)))) == len(all),
		"the list holds %q", all)
	for _, limit := range sizes {
		expect.Equal(t, walk(t, l.caller, l.with("limit", limit), ""), all, "by %s the walk gives", limit)
		if l.series {
			continue
		}
		var joined []string
		for more := true; more; {
			p := pageOf(t, l.caller, l.with("limit", limit)+"&offset="+strconv.Itoa(len(joined)))
			for _, item := range p.Items {
				joined = append(joined, fmt.Sprint(item))
			}
			more = p.Next != ""
		}
		expect.Equal(t, joined, all, "the pages by offset, joined, of %s, give", limit)
	}
}

// removals are the calls that remove an item from a list, by the list.
var removals = map[string]func(item map[string]any) string{
	"list-edges":         func(item map[string]any) string { return fmt.Sprint("/api/edges/", item["edgeId"]) },
	"list-rollout-edges": func(item map[string]any) string { return fmt.Sprint("/api/edges/", item["edgeId"]) },
}

// TestLists_WalkedWhileOthersWrite_MissNothingThatStays: and show nothing twice.
func TestLists_WalkedWhileOthersWrite_MissNothingThatStays(t *testing.T) {
	t.Parallel()
	world := harness.New(t, withSettings("LIMIT_USER=6000"))
	for operation, l := range lists(t, world, "acme") {
		t.Run(operation, func(t *testing.T) {
			stays := map[string]bool{}
			whole := pageOf(t, l.caller, l.with("limit", "100"))
			for i, item := range whole.Items {
				if remove := removals[operation]; remove == nil || i%5 != 3 {
					stays[identity(item)] = true
				}
			}
			seen, path, pages := map[string]int{}, l.with("limit", "2"), 0
			for ; path != ""; pages++ {
				p := pageOf(t, l.caller, path)
				for _, item := range p.Items {
					seen[identity(item)]++
				}
				path = p.Next
				switch {
				case pages == 1 && operation != "list-rollout-history":
					l.grow(t)
				case pages == 2 && removals[operation] != nil:
					for i, item := range whole.Items {
						if i%5 == 3 {
							world.Owner(t).Do(t, http.MethodDelete, removals[operation](item), "")
						}
					}
				}
			}
			for id, times := range seen {
				expect.That(t, times == 1, "%s is listed %d times", id, times)
			}
			for id := range stays {
				expect.That(t, seen[id] == 1, "%s was there the whole time, and is listed %d times", id, seen[id])
			}
		})
	}
}

// identity names an item by what never changes in it.
func identity(item map[string]any) (name string) {
	for _, field := range []string{"eventId", "edgeId", "id", "at", "methodId", "version", "code", "machine", "productId", "factoryId", "edgeType", "channel", "sha256", "ranAt"} {
		name += fmt.Sprint(item[field], " ")
	}
	return name
}

func TestLists_BadPaging_IsRefusedByEach(t *testing.T) {
	t.Parallel()
	events := []string{"from=2020-01-01T00:00:00Z", "resourceType=machine&resourceId=press-1", "actorIssuer=a&actorUserId=b"}
	// Other queries of a series, for which its cursor is not valid.
	others := map[string][]string{
		"list-audit-events": events, "list-factory-audit-events": events, "list-rollout-edges": {"state=offered"},
	}
	for operation, l := range lists(t, harness.New(t), "acme") {
		t.Run(operation, func(t *testing.T) {
			for _, query := range []string{"limit=0", "limit=101", "offset=-1", "offset=0&cursor=AQ"} {
				l.caller.Get(t, l.path+"?"+query).Refused(t, problem.ValidationFailed)
			}
			if !l.series {
				l.caller.Get(t, l.with("offset", "10001")).Refused(t, problem.OffsetTooLarge)
				l.caller.Get(t, l.with("cursor", "AQ")).Refused(t, problem.InvalidCursor)
				p := pageOf(t, l.caller, l.with("offset", "10000"))
				expect.That(t, len(p.Items) == 0 && p.Next == "", "after 10,000 come %v", p)
			} else {
				l.caller.Get(t, l.with("offset", "1")).Refused(t, problem.ValidationFailed)
			}
			cursor := cursorOf(t, pageOf(t, l.caller, l.with("limit", "1")).Next)
			for name, altered := range map[string]string{
				"empty": "", "truncated": cursor[:len(cursor)-4], "altered": strings.ToLower(cursor), "long": strings.Repeat("A", 5<<10),
				"another version": "Ag" + cursor[2:],
			} {
				t.Log(name)
				l.caller.Get(t, l.with("cursor", altered)).Refused(t, problem.InvalidCursor)
			}
			for _, other := range others[operation] {
				l.caller.Get(t, l.path+"?"+other+"&cursor="+cursor).Refused(t, problem.InvalidCursor)
			}
		})
	}
}

func cursorOf(t *testing.T, next string) string {
	t.Helper()
	u, err := url.Parse(next)
	expect.Must(t, err == nil && u.Query().Get("cursor") != "", "next is %q", next)
	return u.Query().Get("cursor")
}

func TestCursor_OfAnotherFactory_IsRefused(t *testing.T) {
	w := harness.New(t)
	one, two := newPlant(t, w), newPlant(t, w)
	cursor := cursorOf(t, pageOf(t, one.admin, one.factory+"/audit-events?limit=1").Next)
	one.owner.Get(t, two.factory+"/audit-events?cursor="+cursor).Refused(t, problem.InvalidCursor)
	one.owner.Get(t, "/api/audit-events?cursor="+cursor).Refused(t, problem.InvalidCursor)
}

func TestLists_FiltersThatMatchNothing_GiveAnEmptyList(t *testing.T) {
	p := newPlant(t, harness.New(t))
	none := "0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a"
	for _, path := range []string{
		"/api/ota/release-channels?edgeType=none", "/api/ota/rollouts?edgeType=none", "/api/ota/rollouts?channel=none",
		"/api/ota/rollouts?status=halted", "/api/ota/rollouts?status=completed&channel=stable",
		"/api/ota/rollouts?status=halted&edgeType=" + p.edgeType, "/api/ota/rollouts?status=halted&channel=stable&edgeType=" + p.edgeType,
		p.factory + "/production-methods?productId=" + none, "/api/factories?organizationId=none",
		p.factory + "/audit-events?resourceType=machine&resourceId=none", p.factory + "/audit-events?actorIssuer=none&actorUserId=none",
		p.factory + "/audit-events?resourceType=none&resourceId=none&actorIssuer=none&actorUserId=none",
		"/api/audit-events?resourceType=none&resourceId=none&actorIssuer=none&actorUserId=none",
		"/api/audit-events?from=9999-12-31T23:59:59Z", "/api/audit-events?to=0000-01-01T00:00:00Z",
		"/api/audit-events?from=0000-01-01T00:00:00Z&to=0000-06-01T00:00:00Z",
	} {
		got := pageOf(t, p.owner, path)
		expect.That(t, len(got.Items) == 0 && got.Next == "", "%s gives %v", path, got)
	}
}

// TestLists_OfAFactory_ShowAtOnceWhatWasWritten covers machines and methods, also with a filter, and the factory's
// events.
func TestLists_OfAFactory_ShowAtOnceWhatWasWritten(t *testing.T) {
	p := newPlant(t, harness.New(t))
	for i := range 20 {
		code := fmt.Sprintf("zeta-%02d", i)
		p.engineer.Put(t, p.factory+"/machines/"+code, `{"name":"Mill"}`).Is(t, http.StatusCreated)
		if got := walk(t, p.engineer, p.factory+"/machines?limit=100", "code"); got[len(got)-1] != code {
			t.Fatalf("the list ends with %s, want %s", got[len(got)-1], code)
		}
		if got := pageOf(t, p.admin, p.factory+"/audit-events?limit=1").Items[0]; got["eventName"] != "MachineRegistered" ||
			got["resource"].(map[string]any)["id"] != code {
			t.Fatalf("the newest event is %v, want that of %s", got, code)
		}
		made := p.engineer.Post(t, p.factory+"/production-methods",
			fmt.Sprintf(`{"productId":%q,"name":"Milling"}`, product)).Header.Get("Location")
		got := walk(t, p.engineer, p.factory+"/production-methods?limit=100&productId="+strings.ToUpper(product), "methodId")
		if !strings.HasSuffix(made, got[len(got)-1]) {
			t.Fatalf("the list ends with %s, want %s", got[len(got)-1], made)
		}
	}
}
