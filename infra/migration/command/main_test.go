package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"wavegate/infra/migration"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

const before, after report.Shards = 32, 128

// A stage is a deployment with rows of boxes that were written with fewer partitions.
type stage struct {
	client *dynamodb.Client
	prefix string
	number int
	rows   migration.Item // one of them
}

func (s *stage) id(n int) string { return fmt.Sprintf("%s-%06d", s.prefix, n) }

func (s *stage) fill(t *testing.T) {
	t.Helper()
	db, was := dynamo.Open(s.client, time.Now), report.Row{}
	first := was.Registered(report.Registration{EdgeID: s.id(0), EdgeType: "gateway-x", Channel: "stable", At: time.Now()})
	expect.OK(t, report.NewStore(db, before).Save(admission.Unlimited(t.Context()), was, first))
	s.rows = s.row(t, 0)
	numbers := make([]int, s.number)
	for n := range numbers {
		numbers[n] = n
	}
	writers, ctx := errgroup.WithContext(t.Context())
	writers.SetLimit(8)
	for part := range slices.Chunk(numbers, 25) {
		writers.Go(func() error {
			var writes []types.WriteRequest
			for _, n := range part {
				row := maps.Clone(s.rows)
				row["edgeId"], row["shard"] = text(s.id(n)), text(before.Of("gateway-x/stable", s.id(n)))
				row["stateKey"] = text(report.IndexEntry{EdgeID: s.id(n), Hash: fmt.Sprintf("%08x", report.Place(s.id(n)))}.StateKey())
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
			}
			_, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{dynamo.Reports.Name(): writes}})
			return err
		})
	}
	expect.OK(t, writers.Wait())
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func (s *stage) row(t *testing.T, n int) migration.Item {
	t.Helper()
	name := dynamo.Reports.Name()
	got, err := s.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: migration.Item{"edgeId": text(s.id(n))}})
	expect.OK(t, err)
	return got.Item
}

// command is the program, with the variables that scripts/migrate gives it.
func (s *stage) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, append([]string{"--stage", "test", "--state", program + ".json"}, append(arguments, "shards")...)...)
	c.Env = append(os.Environ(), "AWS_ENDPOINT_URL_DYNAMODB="+*s.client.Options().BaseEndpoint, "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b",
		"REPORT_SHARDS="+strconv.Itoa(int(after)))
	return c
}

// TestMigrate_KilledInTheMiddle_GoesOnWhereItWas moves 100,000 rows on Amazon's DynamoDB Local, and 3,000 on the embedded store,
// which reads the whole table for each page. Boxes continue to poll.
func TestMigrate_KilledInTheMiddle_GoesOnWhereItWas(t *testing.T) {
	program := filepath.Join(t.TempDir(), "migrate")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		s := &stage{client: client, prefix: uuid.NewString()[:8], number: 3_000}
		if strings.HasSuffix(t.Name(), "/reference") {
			s.number = expect.Long(s.number, 100_000)
		}
		// Its own table, because a migration changes all items.
		t.Setenv(dynamo.Reports.EnvName(), "wavegate-migrated-"+s.prefix)
		expect.Value(client.CreateTable(t.Context(), dynamo.TableOf(dynamo.Reports).CreateInput(dynamo.Reports.Name())))(t)
		s.fill(t)
		program := program + s.prefix
		expect.OK(t, os.Link(strings.TrimSuffix(program, s.prefix), program))
		first := s.command(t.Context(), program, "--rate", strconv.Itoa(s.number/2))
		expect.OK(t, first.Start())
		for read(t, program).Progress.Read < int64(s.number/3) {
			s.poll(t, s.number-1-int(read(t, program).Progress.Read)/10)
		}
		expect.OK(t, first.Process.Kill())
		expect.Must(t, first.Wait() != nil, "it came to its end before it was killed")
		was := read(t, program).Progress
		left := s.command(t.Context(), program, "--check")
		if out, err := left.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("in the old form")) {
			t.Errorf("the check in the middle says %v: %s", err, out)
		}
		out, err := s.command(t.Context(), program, "--rate", "100000").CombinedOutput()
		expect.Must(t, err == nil, "%v\n%s", err, out)
		t.Logf("killed behind %d, of which %d were changed; then: %s", was.Read, was.Changed, out)
		expect.That(t, bytes.Contains(out, fmt.Appendf(nil, "continuing after %d items", was.Read)), "it says %s", out)
		if now := read(t, program).Progress; !now.Done || now.Read != int64(s.number) || now.Changed+now.Already != now.Read {
			t.Errorf("it came to %+v", now)
		}
		if out, err := s.command(t.Context(), program, "--check").CombinedOutput(); err != nil || !bytes.Contains(out, []byte(" 0 of them in the old form")) {
			t.Errorf("the check at the end says %v: %s", err, out)
		}
		for n := 0; n < s.number; n += 97 {
			expect.Equal(t, s.row(t, n)["shard"].(*types.AttributeValueMemberS).Value, after.Of("gateway-x/stable", s.id(n)), "%s is in", s.id(n))
		}
	})
}

// poll records an offer to a box, as a function with the new setting does.
func (s *stage) poll(t *testing.T, n int) {
	t.Helper()
	store := report.NewStore(dynamo.Open(s.client, time.Now), after)
	was := expect.Value(store.Get(t.Context(), s.id(n)))(t)
	next := was
	next.Told, next.Revision = fmt.Sprintf("1.0.%d", was.Revision), was.Revision+1
	expect.OK(t, store.Save(admission.Unlimited(t.Context()), was, next))
}

// read is the content of the state file; empty if there is none yet.
func read(t *testing.T, program string) (s state) {
	t.Helper()
	b, err := os.ReadFile(program + ".json")
	if os.IsNotExist(err) {
		return state{}
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	expect.OK(t, err)
	return s
}

func TestBefore_AnotherFormOrAnEnd_BeginsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	now := state{Table: "reports-1", Form: "shards of 64"}
	half := migration.Progress{Behind: map[string]string{"edgeId": "b"}, Counts: migration.Counts{Read: 7}}
	for name, test := range map[string]struct {
		was  state
		goes bool
	}{
		"the same":      {state{now.Table, now.Form, half}, true},
		"another form":  {state{now.Table, "shards of 128", half}, false},
		"another table": {state{"reports-2", now.Form, half}, false},
		"its end":       {state{now.Table, now.Form, migration.Progress{Done: true, Counts: half.Counts}}, false},
	} {
		expect.OK(t, write(file, test.was))
		got, err := earlier(file, now)
		expect.That(t, err == nil && (got.Read == 7) == test.goes, "%s: continues from %+v, %v", name, got, err)
	}
	got, err := earlier(file+".none", now)
	expect.That(t, err == nil && got.Read == 0, "without a file it continues from %+v, %v", got, err)
}

func TestRun_Form_IsRaisedUnlessItIsHigher(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		endpoint := *client.Options().BaseEndpoint
		for name, value := range map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": endpoint, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"} {
			t.Setenv(name, value)
		}
		args := []string{"--stage", "a", "--state", "b", "form"}
		var out bytes.Buffer
		if err := run(t.Context(), args, &out); err != nil || !strings.Contains(out.String(), fmt.Sprintf("the stored data has form %d", dynamo.Form)) {
			t.Errorf("it says %q, %v", &out, err)
		}
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(dynamo.Progress.Name()),
			Key:              map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: "data"}, "part": &types.AttributeValueMemberS{Value: "form"}},
			UpdateExpression: aws.String("SET #form = #form + :one"), ExpressionAttributeNames: map[string]string{"#form": "form"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
		expect.OK(t, err)
		for _, args := range [][]string{args, append([]string{"--check"}, args...)} {
			expect.Error(t, run(t.Context(), args, &out), fmt.Sprintf("the stored data has form %d", dynamo.Form+1), "%v: it says", args)
		}
	})
}

func TestRun_WhatIsMissing_IsSaid(t *testing.T) {
	for _, args := range [][]string{{"shards"}, {"--stage", "a", "--state", "b", "other"}, {"--stage", "a", "--state", "b", "--rate", "0", "shards"}} {
		expect.Error(t, run(t.Context(), args, &bytes.Buffer{}), "the name of a migration", "%v", args)
	}
	t.Setenv("REPORT_SHARDS", "None")
	expect.Error(t, run(t.Context(), []string{"--stage", "a", "--state", "b", "shards"}, &bytes.Buffer{}), `"None"`, "without the stage's setting")
}
