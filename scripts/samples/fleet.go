package samples

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/access/auth"
)

// next is the release that is published on canary before it is rolled out.
var next = Values{"channel": "canary", "version": "1.1.0"}

// content describes the bytes that a session uploads.
var content = Values{"sha256": fixed["sha256"], "sha1": "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"}

// evident publishes a release with an SBOM that the service keeps.
var evident = []Step{{Operation: "update-artifact"}, {"publish-release", Values{"details": `,"documents":[{"kind":"sbom","sha256":"` + content["sha256"] + `"}]`}}}

var fleet = []Sample{
	{
		Operation: "publish-release", By: Owner,
		Body: `{"currentVersion":"{version}","artifactUrl":"https://artifacts.example.com/{edgeType}/{version}.tar.gz",` +
			`"sha256":"{sha256}"{details}{passing}}`,
		Defaults: Values{"details": ""},
		About:    About{"release-channel", "{edgeType}/{channel}"},
		Cases: []Case{
			{Name: "new channel"},
			{Name: "next version", After: After("publish-release"), With: Values{"version": "1.1.0"}, Status: http.StatusNoContent},
			{Name: "again", After: After("publish-release"), Status: http.StatusNoContent},
			{Name: "with a stepping stone", After: stone, With: stepped, Status: http.StatusNoContent},
			{Name: "ends a rollout", After: After("start-rollout"), Status: http.StatusNoContent},
		},
		Also: []Case{
			{After: After("publish-release"), Body: `{"currentVersion":"{version}"}`, Status: http.StatusNoContent},
			{With: Values{"details": `,"urgent":true,"reason":"a hole"`}},
			{With: Values{"details": `,"kind":"security","deadline":"P3D"`}},
		},
	},
	{
		Operation: "get-release-channel", By: Owner, After: After("publish-release"),
		About: About{"release-channel", "{edgeType}/{channel}"},
		Shows: `{"currentVersion":"{version}","sha256":"{sha256}"}`,
	},
	{
		Operation: "list-release-channels", By: Owner, After: After("publish-release"),
		Query: "edgeType={edgeType}",
		About: About{"release-channel", "{edgeType}/{channel}"},
		Cases: []Case{page("channel", "edgeType={edgeType}&limit=10")},
	},
	{
		Operation: "list-releases", By: Owner, After: After("publish-release"),
		Query: "edgeType={edgeType}",
		Shows: `{"edgeType":"{edgeType}","version":"{version}"}`,
		Cases: []Case{page("version", "edgeType={edgeType}&limit=10")},
	},
	{
		Operation: "put-release", By: Owner, After: After("publish-release"),
		Defaults: Values{"severity": "high"},
		Body:     `{"supportedUntil":"2031-03-02T00:00:00Z","advisories":[{"id":"CVE-2026-1234","severity":"{severity}","fixedIn":"9.9.9"}]}`,
		About:    About{"release", "{edgeType}/{version}"},
		Cases:    []Case{{Name: "in place of another", After: After("publish-release", "put-release"), With: Values{"severity": "low"}, Status: http.StatusNoContent}},
	},
	{
		Operation: "put-release-components", By: Owner, After: evident, Own: content,
		Defaults: Values{"piece": "1", "component": "3.0.11-1~deb12u2"},
		Body: `{"sbom":"{sha256}","total":2,"components":[{"purl":"pkg:deb/debian/{edgeType}","componentVersion":"{component}"},` +
			`{"purl":"pkg:generic/firmware"}]}`,
		About: About{"release", "{edgeType}/{version}"},
		Cases: []Case{
			{Name: "the only piece"},
			{Name: "again", After: slices.Concat(evident, After("put-release-components")), Status: http.StatusNoContent},
		},
		Also: []Case{{Name: "another", After: slices.Concat(evident, After("put-release-components")), With: Values{"component": "3.0.13"}}},
	},
	{
		Operation: "list-components", By: Viewer, After: slices.Concat(evident, After("put-release-components")),
		Query: "purl=pkg:deb/debian/{edgeType}",
		Shows: `{"edgeType":"{edgeType}","version":"{version}","componentVersion":"3.0.11-1~deb12u2"}`,
		Cases: []Case{page("version", "purl=pkg:deb/debian/{edgeType}&limit=10")},
	},
	{
		Operation: "get-release", By: Viewer, After: After("publish-release", "put-release"),
		Shows: `{"version":"{version}","advisories":[{"id":"CVE-2026-1234","severity":"high","fixedIn":"9.9.9"}]}`,
	},
	{
		Operation: "put-artifact", By: Owner,
		Body:  `{"sizeBytes":4,"sha1":"{sha1}","filename":"image.swu"}`,
		About: About{"artifact", "{edgeType}/{sha256}"}, Own: content,
		Cases: []Case{
			{Name: "new"},
			{Name: "again", After: After("put-artifact")},
			{Name: "kept", After: After("update-artifact"), Status: http.StatusOK},
		},
	},
	{
		Operation: "update-artifact", By: Owner, After: After("put-artifact"),
		Body:  `{"state":"kept"}`,
		About: About{"artifact", "{edgeType}/{sha256}"}, Own: content,
	},
	{
		Operation: "get-artifact", By: Owner, After: After("update-artifact"),
		About: About{"artifact", "{edgeType}/{sha256}"}, Own: content,
		Shows: `{"state":"kept","sha1":"{sha1}"}`,
		Cases: []Case{{}, {Name: "with its uses", Query: "uses=true"}},
	},
	{
		Operation: "list-artifacts", By: Owner, After: After("update-artifact"),
		Query: "edgeType={edgeType}",
		About: About{"artifact", "{edgeType}/{sha256}"}, Own: content,
		Cases: []Case{page("edgeType", "limit=10")},
	},
	{
		Operation: "delete-artifact", By: Owner, After: After("update-artifact"),
		About: About{"artifact", "{edgeType}/{sha256}"}, Own: content,
	},
	{
		Operation: "start-rollout", By: Owner,
		After:    []Step{{Operation: "publish-release"}, {"publish-release", next}},
		Defaults: Values{"target": "1.1.0", "policy": ""},
		Body:     `{"edgeType":"{edgeType}","channel":"{channel}","targetVersion":"{target}"{policy}{passing}}`,
		Makes:    "rolloutId",
		About:    About{"rollout", "{id}"},
		Also:     []Case{{With: Values{"policy": `,"urgent":true,"reason":"a hole"`}}},
	},
	{
		Operation: "update-rollout", By: Owner, After: After("start-rollout"),
		Defaults: Values{"id": "{rolloutId}", "percent": "10", "end": "halted"},
		Body:     `{"staged_percent":{percent}{passing}}`,
		About:    About{"rollout", "{id}"},
		Cases: []Case{
			{Name: "promote"},
			{Name: "halt", Body: `{"status":"halted"}`},
			{Name: "resume", Body: `{"status":"active"{passing}}`, After: []Step{{"update-rollout", Values{"percent": "10,\"status\":\"halted\""}}}},
			{Name: "complete at 100", Body: `{"status":"completed"}`, After: []Step{
				{"update-rollout", Values{"percent": "10"}},
				{"update-rollout", Values{"percent": "50"}},
				{"update-rollout", Values{"percent": "100"}},
			}},
		},
		Also: []Case{
			{Body: `{"status":"halted"}`},
			{Body: `{"status":"halted","return":true}`},
			{Body: `{"status":"halted","return":true,"urgent":true,"reason":"a hole"}`},
			{Body: `{"status":"halted","everywhere":true}`},
			{Body: `{"urgent":true,"reason":"a hole"}`},
			{Body: `{"seen":true}`},
			{Body: `{"status":"active","without":["{organization}"]}`},
			{Body: `{"status":"completed"}`},
			{Body: `{"staged_percent":{percent}}`},
			{Body: `{"status":"active","reason":"it was the network"{passing}}`},
			{Body: `{"staged_percent":{percent},"status":"{end}"{passing}}`},
		},
	},
	{
		Operation: "put-rollout-policy", By: Owner, After: After("start-rollout"),
		Defaults: Values{"id": "{rolloutId}", "mode": "advise", "before": ""},
		Body:     `{"mode":"{mode}","promote":{"soak":{"1":"PT1H"}}{before}}`,
		About:    About{"rollout", "{id}"},
		Cases: []Case{
			{Name: "in place of the default"},
			{Name: "another policy", After: After("put-rollout-policy"), With: Values{"mode": "act"}},
		},
		Also: []Case{{Body: `{}`}, {With: before100}},
	},
	{
		Operation: "get-rollout-policy", By: Viewer, After: After("start-rollout", "put-rollout-policy"),
		Defaults: Values{"id": "{rolloutId}"},
		About:    About{"rollout", "{id}"},
		Shows:    `{"mode":"advise"}`,
	},
	{
		Operation: "approve-rollout-stage", By: second,
		After:    []Step{{Operation: "start-rollout"}, {"put-rollout-policy", before100}},
		Defaults: Values{"id": "{rolloutId}"},
		Body:     `{"stage":100}`,
		About:    About{"rollout", "{id}"},
	},
	{
		Operation: "put-freeze", By: Owner,
		Defaults: Values{"reason": "holidays"},
		Body:     `{"reason":"{reason}","until":"{soon}"}`,
		About:    About{"freeze", "freeze"},
		Cases:    []Case{{Name: "in place of another", After: After("put-freeze"), With: Values{"reason": "{key}"}, Status: http.StatusNoContent}},
	},
	{
		Operation: "get-freeze", By: Viewer, After: After("put-freeze"),
		About: About{"freeze", "freeze"},
		Shows: `{"reason":"holidays"}`,
	},
	{
		Operation: "delete-freeze", By: Owner, After: After("put-freeze"),
		About: About{"freeze", "freeze"},
	},
	{
		Operation: "put-edge-type", By: Owner,
		Defaults: Values{"form": "alike"},
		Body:     `{"versionForm":"{form}"}`,
		About:    About{"edge-type", "{edgeType}"},
		Cases:    []Case{{Name: "in place of another", After: After("put-edge-type"), With: Values{"form": "ignoreBuild"}, Status: http.StatusNoContent}},
	},
	{
		Operation: "get-edge-type", By: Viewer, After: After("put-edge-type"),
		About: About{"edge-type", "{edgeType}"},
		Shows: `{"edgeType":"{edgeType}","versionForm":"alike"}`,
	},
	{
		Operation: "get-rollout", By: Owner, After: After("start-rollout"),
		Defaults: Values{"id": "{rolloutId}", "target": "1.1.0"},
		About:    About{"rollout", "{id}"},
		Shows:    `{"edgeType":"{edgeType}","channel":"{channel}","targetVersion":"{target}"}`,
	},
	{
		Operation: "list-rollouts", By: Owner, After: After("start-rollout"),
		Defaults: Values{"status": "active"},
		Query:    "status={status}",
		About:    About{"rollout", "{id}"},
		Cases:    []Case{page("edgeType", "limit=10")},
	},
	{
		Operation: "put-edge", By: Owner,
		Defaults: Values{"place": ""},
		Body:     `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}"{place}}`,
		About:    About{"edge", "{edgeId}"},
		Weight:   4,
		Cases: []Case{
			{Name: "new"},
			{Name: "moved", After: After("put-edge"), With: Values{"channel": "canary"}, Status: http.StatusNoContent},
			{Name: "pinned", After: append(After("publish-release"), After("put-edge")...), Status: http.StatusNoContent,
				With: Values{"place": `,"pin":{"version":"1.0.0","reason":"a test"}`}},
		},
		Also: []Case{
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","factoryId":"{factoryId}"}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","factoryId":"{factoryId}"}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","factoryId":null}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","attributes":{"hardwareRevision":"C"}}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","attributes":null}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","factoryId":"{factoryId}","group":"pair"}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","group":null}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","pin":{"version":"{version}","reason":"a test","allowDowngrade":true}}`},
			{Body: `{"edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}","pin":null,"allowDowngrade":true}`},
		},
	},
	{
		Operation: "register-edges", By: Owner,
		Defaults: Values{"neighbour": "{edgeId}-b"},
		Body:     batch("{edgeId}", "{neighbour}"),
		About:    About{"edge", "{edgeId}"},
		Shows:    `{"registered":2,"reassigned":0,"unchanged":0}`,
		Cases: []Case{
			{Name: "2 new"},
			{Name: "2 there already", After: After("register-edges")},
			{Name: "30 new", Body: batch(thirty()...)},
		},
		Also: []Case{{Body: `{"takeOver":true,` + strings.TrimPrefix(batch("{edgeId}", "{neighbour}"), "{")}},
	},
	{
		Operation: "delete-edge", By: Owner, After: After("put-edge"),
		About: About{"edge", "{edgeId}"},
	},
	{
		Operation: "get-edge", By: Owner, After: After("put-edge"),
		About: About{"edge", "{edgeId}"},
	},
	{
		Operation: "list-edges", By: Owner, After: After("put-edge"),
		Query: "edgeType={edgeType}&channel={channel}",
		About: About{"edge", "{edgeId}"},
		Cases: []Case{page("edgeId", "edgeType={edgeType}&channel={channel}&limit=10")},
		Also:  []Case{{Query: "organizationId={organization}"}},
	},
	{
		Operation: "get-manifest", By: Box, After: After("publish-release", "put-edge"),
		Defaults: Values{"installed": "{version}", "said": ""},
		Query:    "installed={installed}{said}",
		Shows:    `{"edgeId":"{edgeId}","version":"{version}"}`,
		Weight:   4,
		Cases: []Case{
			{Name: "the container reads the channel"},
			{Name: "the container knows the channel", After: After("get-manifest")},
			{Name: "nothing new, 304", After: After("get-manifest"), Header: [2]string{"If-None-Match", "{etag}"},
				Status: http.StatusNotModified},
			{Name: "a stepping stone", After: slices.Concat(stone, []Step{{"publish-release", stepped}, {"get-manifest", behind}}), With: behind},
			{Name: "health numbers, the first of an hour", After: asked, With: said},
			{Name: "health numbers again", After: append(asked, Step{"get-manifest", said}), With: said},
			{Name: "health numbers that nobody asks for", After: After("start-rollout", "get-manifest"), With: said},
		},
	},
	{
		Operation: "put-update-report", By: Box, After: offered,
		Body: `{"version":"{version}","attempt":1,"outcome":"failed","code":"boot","detail":"no heartbeat within 90 s"}`,
	},
	{
		Operation: "put-edge-attributes", By: Box, After: After("put-edge"),
		Body: `{"attributes":{"hardwareRevision":"C","modem":"LTE"}}`,
		Cases: []Case{
			{Name: "new"},
			{Name: "the same", After: After("put-edge-attributes")},
		},
	},
	{
		Operation: "get-update-why", By: Viewer, After: offered,
		Shows: `{"edgeId":"{edgeId}","version":"{version}","reason":"channel"}`,
	},
	{
		Operation: "get-overview", By: Viewer, After: After("get-rollout-progress"),
		Query: "edgeType={edgeType}&channel={channel}",
		Shows: `{"active":1,"troubles":{"none":1}}`,
	},
	{
		Operation: "get-rollout-progress", By: Viewer, After: After("start-rollout"),
		Defaults: Values{"id": "{rolloutId}"}, Query: "fresh=true",
		Shows: `{"rolloutId":"{rolloutId}","staged_percent":1}`,
		Also:  []Case{{Query: "by=factory"}},
	},
	{
		Operation: "list-rollout-history", By: Viewer, After: After("get-rollout-progress"),
		Defaults: Values{"id": "{rolloutId}"},
		Shows:    `{"staged_percent":1}`,
	},
	{
		Operation: "list-rollout-edges", By: Viewer,
		After: []Step{
			{Operation: "start-rollout"},
			{"update-rollout", Values{"percent": "10"}},
			{"update-rollout", Values{"percent": "50"}},
			{Operation: "approve-rollout-stage"},
			{"update-rollout", Values{"percent": "100"}},
			{"get-manifest", Values{"installed": "0.9.9"}},
			{"put-update-report", Values{"version": "1.1.0"}},
		},
		Defaults: Values{"id": "{rolloutId}"}, Query: "state=failed",
		Cases: []Case{page("edgeId", "state=failed&limit=10")},
	},
	{
		Operation: "get-channel-progress", By: Viewer, After: offered,
		Shows: `{"edgeType":"{edgeType}","channel":"{channel}","boxes":1}`,
	},
	{
		Operation: "get-organization-fleet", By: Watcher, After: After("start-rollout", "put-edge"),
		Defaults: Values{"organizationId": "{organization}"},
		Shows:    `{"organizationId":"{organizationId}"}`,
	},
	{
		Operation: "get-organization-rollout", By: Watcher, After: After("start-rollout", "put-edge"),
		Defaults: Values{"organizationId": "{organization}", "id": "{rolloutId}"},
		Shows:    `{"id":"{rolloutId}","targetVersion":"1.1.0","status":"active"}`,
	},
	// These poll, and a container keeps the channel for a moment, so no sample that starts a rollout follows them.
	{
		Operation: "list-edge-history", By: Viewer, After: After("get-manifest"),
		Shows: `{"edgeId":"{edgeId}","version":"{version}"}`,
	},
	{
		Operation: "list-release-edges", By: Viewer,
		After: []Step{{Operation: "get-manifest"}, {"get-manifest", Values{"installed": "0.9.8"}}},
		Shows: `{"edgeId":"{edgeId}","version":"{version}"}`,
	},
}

// second is a platform owner who approves what another one started.
var second = Caller{"otto", "wavegate", auth.PlatformOwner}

// said is what a box says about its work, and asked is before it does so.
var (
	said  = Values{"said": "&health=cycleSeconds:12.5"}
	asked = []Step{{"start-rollout", Values{"policy": `,"policy":{"health":{"cycleSeconds":{"is":"gauge"}}}`}}, {Operation: "get-manifest"}}
)

// before100 is a policy that requires a second person before stage 100.
var before100 = Values{"before": `,"approvals":{"before":[100]}`}

// offered are the calls after which a box is offered its channel's version.
var offered = []Step{{Operation: "publish-release"}, {Operation: "put-edge"}, {"get-manifest", Values{"installed": "0.9.0"}}}

// stone publishes 0.5.0 with an old order, and stepped is a release that requires it. A box that runs 0.4.0 is behind.
var (
	stone   = []Step{{"publish-release", Values{"version": "0.5.0", "details": `,"order":1`}}}
	stepped = Values{"version": "2.0.0", "details": `,"requires":"0.5.0"`}
	behind  = Values{"version": "0.5.0", "installed": "0.4.0"}
)

// batch is the body that registers boxes on one channel.
func batch(ids ...string) string {
	boxes := make([]string, len(ids))
	for i, id := range ids {
		boxes[i] = `{"edgeId":"` + id + `","edgeType":"{edgeType}","channel":"{channel}","organizationId":"{organization}"}`
	}
	return `{"edges":[` + strings.Join(boxes, ",") + `]}`
}

// thirty are the ids of a full batch.
func thirty() []string {
	ids := make([]string, 30)
	for i := range ids {
		ids[i] = "{edgeId}-" + strconv.Itoa(i)
	}
	return ids
}
