package answers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery/ledger"
	"wavegate/scripts/lab/proof/answers"
	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/content"
	"wavegate/shared/production/factory"
	"wavegate/shared/production/machine"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/idempotency"
)

// A run is a small correct run: its books, and its calls with their answers.
type run struct {
	books ledger.Books
	calls []answers.Call
}

// call returns the run's only call of an operation.
func (r *run) call(t *testing.T, operation string) *answers.Call {
	t.Helper()
	for i := range r.calls {
		if r.calls[i].Operation == operation {
			return &r.calls[i]
		}
	}
	t.Fatalf("no call of %s", operation)
	return nil
}

// item returns the item of a table in which an attribute has a value.
func (r *run) item(t *testing.T, table dynamo.TableID, name string, value any) ledger.Item {
	t.Helper()
	for _, item := range r.books[table] {
		if item[name] == value {
			return item
		}
	}
	t.Fatalf("%s has no item with %s = %v", table, name, value)
	return nil
}

func (r *run) event(t *testing.T, name string) ledger.Item {
	t.Helper()
	return r.item(t, dynamo.Audit, "eventName", name)
}

func (r *run) remove(t *testing.T, table dynamo.TableID, name string, value any) {
	t.Helper()
	gone := fmt.Sprint(r.item(t, table, name, value))
	var kept []ledger.Item
	for _, item := range r.books[table] {
		if fmt.Sprint(item) != gone {
			kept = append(kept, item)
		}
	}
	r.books[table] = kept
}

const (
	issuer = "https://people.example"
	digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// honest makes a run with every kind of change, with the service's own packages on a new store.
func honest(t *testing.T) *run {
	t.Helper()
	embedded := expect.Value(dynamolocal.Embedded())(t)
	defer embedded.Close()
	client := embedded.Client()
	expect.OK(t, dynamolocal.CreateTables(t.Context(), client))
	for _, table := range dynamo.Tables {
		t.Setenv(table.ID.EnvName(), dynamolocal.TableName(table.ID))
	}
	r := &run{}
	db := dynamo.Open(client, time.Now)
	who := auth.Principal{Issuer: issuer, UserID: "olga", OrganizationID: "acme", Roles: []auth.Role{auth.PlatformOwner}}
	var none input.Preconditions
	user := "olga" // the caller

	// made records the call that do makes. do returns the status and the last part of the Location.
	made := func(operation, path, body string, parameter map[string]string, do func(context.Context, audit.Origin) (int, string, error)) string {
		t.Helper()
		c := answers.Call{Operation: operation, Path: path, Body: []byte(body), Parameter: parameter, Issuer: issuer, User: user,
			Organization: "acme", ReadsAll: true, Member: true, Began: time.Now(), RequestID: fmt.Sprintf("request-%d", len(r.calls))}
		from := audit.Origin{Actor: audit.Actor{Issuer: issuer, UserID: user}, SourceIP: "192.0.2.7", RequestID: c.RequestID}
		status, id, err := do(t.Context(), from)
		expect.Must(t, err == nil, "%s: %v", operation, err)
		if c.Status = status; id != "" {
			c.Location = path + "/" + id
		}
		if operation == "create-production-method" {
			c.Key = "k"
		}
		time.Sleep(time.Millisecond)
		c.Ended = time.Now()
		r.calls = append(r.calls, c)
		return id
	}
	put := func(created bool, err error) (int, string, error) {
		if created {
			return 201, "", err
		}
		return 204, "", err
	}
	publications, rollouts := publication.NewStore(db), rollout.NewStore(db)
	factories, machines, methods := factory.NewStore(db), machine.NewStore(db), method.NewStore(db)
	publish := func(channel, version string) {
		p := release.Publication{EdgeType: "gateway-x", Channel: channel, CurrentVersion: version, SHA256: digest,
			ArtifactURL: "https://artifacts.example/" + version}
		made("publish-release", "/api/ota/release-channels/gateway-x/"+channel,
			fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":%q,"sha256":%q}`, version, p.ArtifactURL, digest),
			map[string]string{"edgeType": "gateway-x", "channel": channel},
			func(ctx context.Context, from audit.Origin) (int, string, error) {
				m, err := publications.Publish(admission.Unlimited(ctx), from, p, none)
				return put(m.Created, err)
			})
	}
	publish("stable", "1.0.0")
	publish("canary", "1.1.0")
	id := made("start-rollout", "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`, nil,
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			id, err := rollouts.Start(admission.Unlimited(ctx), from, rollout.Plan{EdgeType: "gateway-x", Channel: "stable", TargetVersion: "1.1.0"}, idempotency.Claim{})
			return 201, id, err
		})
	move := func(body string, m rollout.Move) {
		made("update-rollout", "/api/ota/rollouts/"+id, body, map[string]string{"id": id},
			func(ctx context.Context, from audit.Origin) (int, string, error) {
				_, err := rollouts.Move(admission.Unlimited(ctx), from, id, m, none)
				return 204, "", err
			})
	}
	for _, percent := range []int{10, 50, 100} {
		move(fmt.Sprintf(`{"staged_percent":%d}`, percent), rollout.Move{StagedPercent: &percent})
	}
	move(`{"status":"completed"}`, rollout.Move{Status: rollout.Completed})

	made("start-rollout", "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"canary","targetVersion":"1.0.0"}`, nil,
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			id, err := rollouts.Start(admission.Unlimited(ctx), from, rollout.Plan{EdgeType: "gateway-x", Channel: "canary", TargetVersion: "1.0.0"}, idempotency.Claim{})
			return 201, id, err
		})
	publish("canary", "1.1.0") // ends the rollout
	edges := edge.NewRegistry(db, 1).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}).For(auth.Principal{Roles: []auth.Role{auth.PlatformOwner}})
	made("put-edge", "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`, map[string]string{"edgeId": "box-1"},
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			return put(edges.Put(admission.Unlimited(ctx), from, "box-1", edge.Assignment{EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme"}, none))
		})
	hash := strings.Repeat("c", 64)
	made("put-edge-token", "/api/edges/box-1/token", `{"tokenSha256":"`+hash+`"}`, map[string]string{"edgeId": "box-1"},
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			return put(false, edges.SetToken(admission.Unlimited(ctx), from, "box-1", hash, none))
		})

	inside := map[string]string{"factoryId": "munich-1"}
	made("put-factory", "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`, inside,
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			return put(factories.Put(admission.Unlimited(ctx), from, "munich-1", factory.Registration{OrganizationID: "acme", Name: "Munich"}, none))
		})
	made("put-machine", "/api/factories/munich-1/machines/m-1", `{"name":"Mill"}`, map[string]string{"factoryId": "munich-1", "code": "m-1"},
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			return put(machines.Put(admission.Unlimited(ctx), who, from, "munich-1", "m-1", machine.Registration{Name: "Mill"}, none))
		})
	draft := method.Creation{ProductID: "7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11", Name: "Milling"}
	claim := expect.Value(idempotency.Of(who, "create-production-method", "/", "k", draft))(t)
	methodID := made("create-production-method", "/api/factories/munich-1/production-methods",
		fmt.Sprintf(`{"productId":%q,"name":"Milling"}`, draft.ProductID), inside,
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			id, err := methods.Create(admission.Unlimited(ctx), who, from, "munich-1", draft, claim)
			return 201, id, err
		})
	version := "/api/factories/munich-1/production-methods/" + methodID + "/versions/1"
	of := map[string]string{"factoryId": "munich-1", "methodId": methodID, "number": "1"}
	ref := method.Ref{FactoryID: "munich-1", MethodID: methodID, Version: 1}
	parsed := parsedMilling(t)
	user = "eric"
	made("put-method-content", version+"/content", milling, of,
		func(ctx context.Context, from audit.Origin) (int, string, error) {
			return put(methods.Save(admission.Unlimited(ctx), signer("eric"), from, ref, parsed, none))
		})
	moveVersion := func(by string, m method.Move) {
		user, m.Reason = by, "r"
		body := fmt.Sprintf(`{"status":%q,"reason":"r"}`, m.Status)
		made("update-method-version", version, body, of, func(ctx context.Context, from audit.Origin) (int, string, error) {
			_, err := methods.Move(admission.Unlimited(ctx), signer(by), from, ref, m, none)
			return 200, "", err
		})
	}
	moveVersion("eric", method.Move{Status: method.InReview})
	moveVersion("anna", method.Move{Status: method.Released, ContentSHA256: parsed.SHA256()})
	r.books = expect.Value(ledger.Read(t.Context(), client, dynamolocal.TableName))(t)
	r.read(t)
	return r
}

// milling is a content of a method on the machine m-1.
const milling = `{"form":1,"basis":{"quantity":1,"unit":"1"},"steps":[{"id":"10","name":"Mill","equipment":{"machines":["m-1"]},` +
	`"run":{"time":"PT1M","per":{"quantity":1,"unit":"1"}},"outputs":[{"material":"PART","quantity":1,"unit":"1"}]}]}`

func parsedMilling(t *testing.T) content.Content {
	t.Helper()
	parsed, faults := content.Parse([]byte(milling))
	expect.Must(t, len(faults) == 0, "%v", faults)
	return parsed
}

// signer is a person who works on methods.
func signer(user string) auth.Principal {
	return auth.Principal{Issuer: issuer, UserID: user, OrganizationID: "acme", Roles: []auth.Role{auth.ProductionEngineer}}
}

// read records reads of the stored resources, as callers see them.
func (r *run) read(t *testing.T) {
	t.Helper()
	for name, event := range map[string]string{"get-rollout": "RolloutCompleted", "get-machine": "MachineRegistered"} {
		after := r.event(t, event)["after"]
		body := expect.Value(json.Marshal(after))(t)
		now := time.Now()
		c := answers.Call{Operation: name, Issuer: issuer, User: "olga", Organization: "acme", ReadsAll: true, Began: now, Ended: now,
			Status: 200, RequestID: name, Answer: body, Parameter: map[string]string{"factoryId": "munich-1", "code": "m-1"}}
		c.Parameter["id"], _ = after.(ledger.Item)["id"].(string)
		r.calls = append(r.calls, c)
	}
	version := r.item(t, dynamo.MethodVersions, "version", 1.0)
	id, hash := version["methodId"].(string), version["contentSha256"].(string)
	chain := r.item(t, dynamo.Methods, "methodId", id)["trailSha256"]
	for operation, answer := range map[string]any{
		"get-method-content":  r.item(t, dynamo.MethodContents, "sha256", hash)["bytes"],
		"get-method-changes":  `{"since":1,"version":1,"changes":[]}`,
		"get-machine-methods": fmt.Sprintf(`{"items":[{"methodId":%q,"version":1,"contentSha256":%q,"trailSha256":%q}]}`, id, hash, chain),
	} {
		now := time.Now()
		r.calls = append(r.calls, answers.Call{Operation: operation, Issuer: issuer, User: "eric", Organization: "acme", Member: true, Began: now, Ended: now,
			Status: 200, RequestID: operation, Answer: fmt.Append(nil, answer), Parameter: map[string]string{"factoryId": "munich-1", "methodId": id, "number": "1", "code": "m-1"}})
	}
	r.calls = append(r.calls, answers.Call{Operation: "get-manifest", User: "box-1", Status: 200, RequestID: "poll",
		Answer: fmt.Appendf(nil, `{"edgeType":"gateway-x","channel":"stable","version":"1.1.0","sha256":%q,"source":"rollout"}`, digest)})
}

// An address is erased with its salt. Its salted hash stays.
func TestAudit_ErasedAddress_LeavesTheChainWhole(t *testing.T) {
	r := honest(t)
	event := r.event(t, "ProductionMethodVersionSubmitted")
	salts := event["salts"].(ledger.Item)
	pseudonym, ok := chain.Pseudonym(salts["/sourceIp"].(string), "192.0.2.7")
	expect.Must(t, ok, "salts %v", salts)
	event["sourceIp"] = pseudonym
	expect.That(t, len(r.books.Audit()) != 0, "with the salt left, nothing is found")
	delete(salts, "/sourceIp")
	found := r.books.Audit()
	expect.That(t, len(found) == 0, "found %q", found)
}

func TestAudit_HonestRun_HasNoFindings(t *testing.T) {
	r := honest(t)
	if found := r.books.Audit(); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	found := answers.Explain(r.books, r.calls)
	expect.That(t, len(found) == 0, "found %q", found)
	if n := len(r.books[dynamo.Audit]); n != 22 {
		t.Errorf("%d events, want 22: 17 changes, the channel that adopted the target, the rollout that a publication ended, and the method with each change of its version", n)
	}
}

// TestAudit_PlantedFaults_AreFound changes the stored state of an honest run in one place in each
// case.
func TestAudit_PlantedFaults_AreFound(t *testing.T) {
	for name, plant := range map[string]func(*testing.T, *run){
		"a change without its event":     func(t *testing.T, r *run) { r.remove(t, dynamo.Audit, "eventName", "MachineRegistered") },
		"a change in between without it": func(t *testing.T, r *run) { r.remove(t, dynamo.Audit, "eventName", "RolloutPromoted") },
		"an event without its change":    func(t *testing.T, r *run) { r.remove(t, dynamo.Machines, "code", "m-1") },
		"an event twice": func(t *testing.T, r *run) {
			r.books[dynamo.Audit] = append(r.books[dynamo.Audit], r.event(t, "FactoryRegistered"))
		},
		"a torn item":                func(t *testing.T, r *run) { r.item(t, dynamo.Rollouts, "status", "completed")["staged_percent"] = 50.0 },
		"an event with other values": func(t *testing.T, r *run) { r.event(t, "MachineRegistered")["after"].(ledger.Item)["name"] = "Lathe" },
		"an event with a wrong before": func(t *testing.T, r *run) {
			r.event(t, "RolloutCompleted")["before"].(ledger.Item)["staged_percent"] = 10.0
		},
		"times that decrease": func(t *testing.T, r *run) { r.event(t, "RolloutCompleted")["eventTime"] = "2020-01-01T00:00:00.000Z" },
		"a row older than its rollout": func(t *testing.T, r *run) {
			r.item(t, dynamo.Channels, "channel", "stable")["rollout"].(ledger.Item)["active"] = true
		},
		"a row with an unknown rollout": func(t *testing.T, r *run) {
			r.item(t, dynamo.Channels, "channel", "stable")["rollout"].(ledger.Item)["id"] = "x"
		},
		"a row without its rollout": func(t *testing.T, r *run) { r.item(t, dynamo.Rollouts, "status", "completed")["status"] = "active" },
		"a publication that left a rollout active": func(t *testing.T, r *run) {
			r.remove(t, dynamo.Audit, "eventName", "RolloutHalted")
			halted := r.item(t, dynamo.Rollouts, "status", "halted")
			halted["status"], halted["revision"] = "active", 1.0
		},
		"a rollout that another channel's publication ended": func(t *testing.T, r *run) {
			halted := r.event(t, "RolloutHalted")
			halted["after"].(ledger.Item)["channel"] = "stable"
			r.item(t, dynamo.Rollouts, "status", "halted")["channel"] = "stable"
		},
		"an end that no publication made": func(t *testing.T, r *run) { r.event(t, "RolloutHalted")["requestId"] = "another" },
		"an adoption that is not recorded": func(t *testing.T, r *run) {
			r.event(t, "RolloutCompleted")["after"].(ledger.Item)["adopted"] = false
			r.item(t, dynamo.Rollouts, "status", "completed")["adopted"] = false
		},
		"a box without its report row":    func(t *testing.T, r *run) { r.remove(t, dynamo.Reports, "edgeId", "box-1") },
		"a report row on another channel": func(t *testing.T, r *run) { r.item(t, dynamo.Reports, "edgeId", "box-1")["channel"] = "canary" },
		"a report row without a box":      func(t *testing.T, r *run) { r.item(t, dynamo.Reports, "edgeId", "box-1")["edgeId"] = "box-2" },
		"a report row that the index does not find": func(t *testing.T, r *run) {
			r.item(t, dynamo.Reports, "edgeId", "box-1")["stateKey"] = "1.0.0#failed#1#00#box-1"
		},
		"an offer from an unknown rollout": func(t *testing.T, r *run) {
			row := r.item(t, dynamo.Reports, "edgeId", "box-1")
			row["offer"] = ledger.Item{"rolloutId": "x", "version": "1.1.0", "state": "offered"}
			row["rolloutId"], row["stateKey"] = "x", "1.1.0#offered#1#00#box-1"
		},
		"a box's event in another shard":   func(t *testing.T, r *run) { r.event(t, "EdgeRegistered")["stream"] = "edges/99" },
		"a target that no channel adopted": func(t *testing.T, r *run) { r.remove(t, dynamo.Audit, "eventName", "ReleaseAdopted") },
		"bytes that were never published": func(t *testing.T, r *run) {
			r.item(t, dynamo.Releases, "version", "1.1.0")["sha256"] = strings.Repeat("b", 64)
		},
		"a release that was deleted": func(t *testing.T, r *run) { r.remove(t, dynamo.Releases, "version", "1.1.0") },
		"a filter's key that lags behind": func(t *testing.T, r *run) {
			r.item(t, dynamo.Rollouts, "status", "completed")["pairStatus"] = "gateway-x/stable#active"
		},
		"an event in the wrong stream":     func(t *testing.T, r *run) { r.event(t, "FactoryRegistered")["position"] = "2020-01-01T00:00:00.000Z#x" },
		"a record of an unknown method":    func(t *testing.T, r *run) { r.books[dynamo.Idempotency][0]["result"] = "gone" },
		"an event of another organization": func(t *testing.T, r *run) { r.event(t, "MachineRegistered")["organizationId"] = "rival" },
		"a content that was replaced":      func(t *testing.T, r *run) { r.books[dynamo.MethodContents][0]["bytes"] = "{}" },
		"a content that was deleted":       func(t *testing.T, r *run) { r.books[dynamo.MethodContents] = nil },
		"a version that is unknown to its method": func(t *testing.T, r *run) {
			r.item(t, dynamo.Methods, "name", "Milling")["latest"].(ledger.Item)["status"] = "in_review"
		},
		"a version that was deleted": func(t *testing.T, r *run) { r.books[dynamo.MethodVersions] = nil },
		"another content takes effect": func(t *testing.T, r *run) {
			decisions := r.item(t, dynamo.Methods, "name", "Milling")["effectivity"].([]any)
			decisions[0].(ledger.Item)["contentSha256"] = digest
		},
		"an author who approved": func(t *testing.T, r *run) {
			released := r.event(t, "ProductionMethodVersionReleased")
			after := released["after"].(ledger.Item)
			after["authors"] = append(after["authors"].([]any), ledger.Item{"issuer": issuer, "userId": "anna"})
		},
		"a signature in another's name": func(t *testing.T, r *run) {
			signatures := r.event(t, "ProductionMethodVersionReleased")["after"].(ledger.Item)["signatures"].([]any)
			signatures[1].(ledger.Item)["userId"] = "eve"
		},
		"a link of the chain with another address": func(t *testing.T, r *run) { r.event(t, "ProductionMethodVersionSubmitted")["sourceIp"] = "192.0.2.9" },
		"a link of the chain with another salt": func(t *testing.T, r *run) {
			delete(r.event(t, "ProductionMethodVersionSubmitted")["salts"].(ledger.Item), "/actor/userId")
		},
		"a method in an unknown factory": func(t *testing.T, r *run) { r.remove(t, dynamo.Factories, "factoryId", "munich-1") },
	} {
		r := honest(t)
		plant(t, r)
		expect.That(t, len(r.books.Audit()) != 0, "%s: not found", name)
	}
}
