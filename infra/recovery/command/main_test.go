package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/infra/recovery"
	"wavegate/infra/recovery/ledger"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

func TestRead_TakesTheTablesOfTheStageAlone(t *testing.T) {
	names, bucket, err := read(strings.NewReader("/wavegate/prod/tables/edges\twavegate-prod-edges-1\n/wavegate/prod/pool/id\teu-1\n/wavegate/test/tables/audit\tx\n"+
		"/wavegate/prod/artifacts/bucket\tb-1\n/wavegate/test/artifacts/bucket\tb-2\n"), "prod")
	expect.That(t, err == nil && len(names) == 1 && names[dynamo.Edges] == "wavegate-prod-edges-1" && bucket == "b-1",
		"it read %v and %s, %v", names, bucket, err)
}

var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func found(change func(*ledger.Comparison)) ledger.Comparison {
	c := ledger.Comparison{Events: 3, Newest: map[dynamo.TableID]time.Time{dynamo.Audit: moment.Add(-time.Minute)}}
	change(&c)
	return c
}

func TestTell_SaysTheSettingAndTheWayBack(t *testing.T) {
	var out strings.Builder
	err := tell(&out, "prod", moment, recovery.Names{dynamo.Edges: "e-1", dynamo.Bells: "b"}, recovery.Names{dynamo.Edges: "e-2"}, found(func(*ledger.Comparison) {}))
	expect.That(t, err == nil, "%v: %s", err, out.String())
	for _, want := range []string{`"restoredTables": {"edges":"e-2"}`, `"restoredTables": {"edges":"e-1"}`, "--import-existing-resources", "audit trail agree"} {
		expect.That(t, strings.Contains(out.String(), want), "%q is not in %s", want, out.String())
	}
}

// TestTell_WhatCannotBeRight_IsAFailure: tables that disagree, that are empty, or that are from a later moment.
func TestTell_WhatCannotBeRight_IsAFailure(t *testing.T) {
	for want, c := range map[string]ledger.Comparison{
		"WRONG: two stories":              found(func(c *ledger.Comparison) { c.Wrong = []string{"two stories"} }),
		"WRONG: there is no audit event":  found(func(c *ledger.Comparison) { c.Events = 0 }),
		"WRONG: reports has an item of 2": found(func(c *ledger.Comparison) { c.Newest[dynamo.Reports] = moment.Add(time.Second) }),
	} {
		var out strings.Builder
		if err := tell(&out, "prod", moment, nil, nil, c); err == nil || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "audit trail agree") {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}

// TestMissing_BytesThatAreNotInTheBucket_AreNamed_AndAFailure: boxes must not be told of them.
func TestMissing_BytesThatAreNotInTheBucket_AreNamed_AndAFailure(t *testing.T) {
	there := artifact.Row{ID: "gateway-x/" + fmt.Sprintf("%x", sha256.Sum256([]byte("abc"))), Key: "aaaa", Filename: "image", Details: release.Details{SizeBytes: 3}}
	gone := there
	gone.Key = "bbbb"
	sum := sha256.Sum256([]byte("abc"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead || r.URL.Path != "/prod/aaaa/image" || r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
		w.Header().Set("Content-Length", "3")
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	missing, err := bytesMissing(t.Context(), "prod", []artifact.Row{there, gone})
	expect.OK(t, err)
	var out strings.Builder
	expect.Error(t, tellMissing(&out, missing), "the bytes of 1 artifacts are missing", "it ends with")
	expect.Equal(t, out.String(), "MISSING: the bytes of "+gone.ID+", bbbb/image\n", "it says")
	missing, err = bytesMissing(t.Context(), "", []artifact.Row{gone})
	expect.That(t, err == nil && missing == nil && tellMissing(&out, missing) == nil,
		"without a bucket: %v, %v", missing, err)
}

// TestComplete_TablesWithoutABackup_AreRefusedByName: it must not take a table that somebody forgot for an empty one.
func TestComplete_TablesWithoutABackup_AreRefusedByName(t *testing.T) {
	store, err := dynamolocal.Embedded()
	expect.OK(t, err)
	t.Cleanup(func() { _ = store.Close() })
	db := store.Client()
	names := recovery.Names{}
	for _, table := range recovery.Together() {
		names[table.ID] = "wavegate-prod-" + string(table.ID)
	}
	plan := expect.Value(recovery.Plan("prod", names, moment))(t)
	for _, table := range plan {
		if table.ID == dynamo.Edges || table.ID == dynamo.Idempotency || table.ID == dynamo.Reports {
			continue
		}
		expect.Value(db.CreateTable(t.Context(), table.CreateInput(table.To)))(t)
	}
	for _, table := range plan {
		if table.ID != dynamo.Machines {
			expect.Value(db.CreateTable(t.Context(), table.CreateInput(table.From)))(t)
		}
	}
	a := aws{client: db, completes: true}
	err = complete(t.Context(), a, plan, moment)
	for _, want := range []string{
		": wavegate-prod-edges-20260301T120000, wavegate-prod-reports-20260301T120000\n", "add --from machines=wavegate-prod-machines-20260301T120000",
	} {
		expect.Error(t, err, want, "it says")
	}
	i := slices.IndexFunc(plan, func(r recovery.Restoration) bool { return r.ID == dynamo.Edges })
	expect.Error(t, a.Restore(t.Context(), plan[i], moment), "does not exist any more", "a table of another moment")
	if there, err := a.exists(t.Context(), "wavegate-prod-idempotency-20260301T120000"); there || err != nil {
		t.Errorf("it made a table: %v, %v", there, err)
	}
}

// TestRun_DataOfAHigherForm_IsNotTaken: this release would erase what a newer one has stored.
func TestRun_DataOfAHigherForm_IsNotTaken(t *testing.T) {
	store, err := dynamolocal.Embedded()
	expect.OK(t, err)
	t.Cleanup(func() { _ = store.Close() })
	for name, value := range map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": store.Endpoint, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"} {
		t.Setenv(name, value)
	}
	var tables strings.Builder
	for _, table := range recovery.Together() {
		fmt.Fprintf(&tables, "/wavegate/prod/tables/%[1]s\twavegate-prod-%[1]s\n", table.ID)
	}
	db, restored := store.Client(), "wavegate-prod-progress-20260301T120000"
	if _, err := db.CreateTable(t.Context(), dynamo.TableOf(dynamo.Progress).CreateInput(restored)); err != nil {
		t.Fatal(err)
	}
	_, err = db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &restored, Item: map[string]types.AttributeValue{
		"subject": &types.AttributeValueMemberS{Value: "data"}, "part": &types.AttributeValueMemberS{Value: "form"}, "form": &types.AttributeValueMemberN{Value: "99"}}})
	expect.OK(t, err)
	var out strings.Builder
	err = run(t.Context(), []string{"--stage", "prod", "--at", "2026-03-01T12:00:00Z", "--check"}, strings.NewReader(tables.String()), &out)
	expect.That(t, err != nil && strings.Contains(err.Error(), "the stored data has form 99") && out.Len() == 0,
		"it says %v, and prints %s", err, &out)
}

func TestRun_WithoutAMoment_IsRefused(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--stage", "prod"}, {"--at", "2026-03-01T12:00:00Z"}, {"--stage", "prod", "--at", "yesterday"},
		{"--stage", "prod", "--at", "2026-03-01T12:00:00Z", "--check", "--backups"},
		{"--stage", "prod", "--at", "2026-03-01T12:00:00Z", "--empty", "edges"},
		{"--stage", "prod", "--at", "2026-03-01T12:00:00Z", "--backups", "--empty", "edge"},
		{"--stage", "prod", "--at", "2026-03-01T12:00:00Z", "--from", "rate-counters=x"},
	} {
		expect.That(t, run(t.Context(), args, strings.NewReader(""), &strings.Builder{}) != nil, "%v passes", args)
	}
}
