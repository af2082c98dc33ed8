package rollout_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A backup is an item's earlier state.
type backup struct {
	table dynamo.TableID
	item  map[string]types.AttributeValue
}

func (f *fleet) backup(t *testing.T, table dynamo.TableID, key dynamo.Key) backup {
	t.Helper()
	keys := map[string]types.AttributeValue{}
	for name, value := range key {
		keys[name] = &types.AttributeValueMemberS{Value: value}
	}
	out, err := f.counted.API.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table.Name()), Key: keys})
	expect.OK(t, err)
	return backup{table, out.Item}
}

// restore brings an item back, as a restore of its table to an earlier time does.
func (f *fleet) restore(t *testing.T, b backup) {
	t.Helper()
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String(b.table.Name()), Item: b.item}}
	_, err := f.counted.API.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put}})
	expect.OK(t, err)
}

// restored lets a rollout go on from 10 percent, and then restores one table to its state at 10 percent.
func restored(t *testing.T, table dynamo.TableID, on func(t *testing.T, f *fleet, id string), test func(t *testing.T, f *fleet, id string)) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		f.publish(t, "canary", "1.2.0", "c")
		id := f.start(t, "1.1.0")
		f.move(t, id, 10, "")
		key := dynamo.Key{"id": id}
		if table == dynamo.Channels {
			key = dynamo.Key{"edgeType": f.edgeType, "channel": "stable"}
		}
		old := f.backup(t, table, key)
		on(t, f, id)
		f.restore(t, old)
		test(t, f, id)
	})
}

// went lists ways in which the rollout went on before one table was restored.
var went = map[string]func(t *testing.T, f *fleet, id string){
	"it was raised": func(t *testing.T, f *fleet, id string) { f.move(t, id, 50, "") },
	"it was halted": func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Halted) },
	"it was resumed": func(t *testing.T, f *fleet, id string) {
		f.move(t, id, 0, rollout.Halted)
		f.move(t, id, 0, rollout.Active)
	},
	"completed":      func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Completed) },
	"adopted":        func(t *testing.T, f *fleet, id string) { f.move(t, id, 50, ""); f.move(t, id, 100, rollout.Completed) },
	"published":      func(t *testing.T, f *fleet, _ string) { f.publish(t, "stable", "1.0.0", "a") },
	"the next began": func(t *testing.T, f *fleet, id string) { f.move(t, id, 0, rollout.Halted); f.start(t, "1.2.0") },
}

func eachRestore(t *testing.T, test func(t *testing.T, f *fleet, id string)) {
	for _, table := range []dynamo.TableID{dynamo.Channels, dynamo.Rollouts} {
		for name, on := range went {
			t.Run(string(table)+" restored, before that "+name, func(t *testing.T) { restored(t, table, on, test) })
		}
	}
}

// offers reports whether the row offers the rollout to boxes.
func (f *fleet) offers(t *testing.T, id string) bool {
	t.Helper()
	c := f.row(t).Rollout
	return c != nil && c.ID == id && c.Active
}

func TestRestore_OfOneTable_AHaltHeals(t *testing.T) {
	eachRestore(t, func(t *testing.T, f *fleet, id string) {
		was, row := f.get(t, id), f.row(t)
		if _, err := f.try(t, id, rollout.Move{Status: rollout.Halted}); err != nil {
			t.Fatalf("the halt is refused: %v", err)
		}
		r, carried := f.get(t, id), f.row(t).Rollout
		expect.Must(t, r.Status == rollout.Halted && !f.offers(t, id),
			"the rollout is %+v, the row carries %+v", r, carried)
		if carried != nil && carried.ID == id {
			expect.Equal(t, *carried, r.Carried(), "the row carries")
			if r.Revision <= row.Rollout.Revision && !dynamo.Same(*row.Rollout, was.Carried()) {
				t.Errorf("revision %d was used before: the row carried %d", r.Revision, row.Rollout.Revision)
			}
		}
		again, err := f.try(t, id, rollout.Move{Status: rollout.Halted})
		expect.That(t, err == nil && again.Revision == r.Revision, "a second halt made %+v of %+v, %v", again, r, err)
		if row := f.row(t); row.Rollout == nil || !row.Rollout.Active {
			f.start(t, "1.2.0") // the pair is free again
		}
	})
}

func TestRestore_OfOneTable_APublicationHeals(t *testing.T) {
	eachRestore(t, func(t *testing.T, f *fleet, id string) {
		before := f.row(t).Rollout
		f.publish(t, "stable", "1.2.0", "c")
		if r := f.get(t, id); before != nil && before.ID == id && (r.Status == rollout.Active || r.Revision < before.Revision) {
			t.Errorf("the row carried %+v, and after the publication the rollout is %+v", before, r)
		}
		row := f.row(t)
		expect.Must(t, row.Rollout == nil && len(row.Earlier) == 0 && row.CurrentVersion == "1.2.0",
			"the row is %+v", row)
		f.start(t, "1.1.0")
		if _, err := f.try(t, id, rollout.Move{Status: rollout.Halted}); err != nil || f.get(t, id).Status != rollout.Halted {
			t.Errorf("the old rollout is %+v, %v", f.get(t, id), err)
		}
	})
}

// TestRestore_RolloutItselfIsLost_APublicationHeals restores the table of rollouts to a time before the start.
func TestRestore_RolloutItselfIsLost_APublicationHeals(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		f.publish(t, "canary", "1.2.0", "c")
		lost := types.TransactWriteItem{Delete: &types.Delete{
			TableName: aws.String(dynamo.Rollouts.Name()),
			Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: f.start(t, "1.1.0")}},
		}}
		if _, err := f.counted.API.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{lost}}); err != nil {
			t.Fatal(err)
		}
		f.publish(t, "stable", "1.0.0", "a")
		row := f.row(t)
		expect.Must(t, row.Rollout == nil && row.CurrentVersion == "1.0.0", "the row is %+v", row)
		f.start(t, "1.2.0")
	})
}

func TestRestore_OfOneTable_OtherMovesAreRefusedAndSayWhatHelps(t *testing.T) {
	for _, table := range []dynamo.TableID{dynamo.Channels, dynamo.Rollouts} {
		restored(t, table, went["it was raised"], func(t *testing.T, f *fleet, id string) {
			next := map[dynamo.TableID]int{dynamo.Channels: 100, dynamo.Rollouts: 50}[table]
			for _, m := range []rollout.Move{{StagedPercent: &next}, {Status: rollout.Completed}} {
				if _, err := f.try(t, id, m); !problem.Has(err, problem.Conflict) || !strings.Contains(err.Error(), "Halt the rollout") {
					t.Errorf("%s restored, %+v: %v", table, m, err)
				}
			}
		})
	}
}

func TestRestore_OfOneTable_CompletionAdoptsNothing(t *testing.T) {
	eachFleet(t, func(t *testing.T, f *fleet) {
		id := f.start(t, "1.1.0")
		for _, percent := range []int{10, 50, 100} {
			f.move(t, id, percent, "")
		}
		old := f.backup(t, dynamo.Rollouts, dynamo.Key{"id": id})
		f.publish(t, "stable", "1.0.1", "d")
		f.restore(t, old)
		_, err := f.try(t, id, rollout.Move{Status: rollout.Completed})
		expect.That(t, problem.Has(err, problem.Conflict), "got %v", err)
		row := f.row(t)
		expect.That(t, row.CurrentVersion == "1.0.1", "a completion replaced the publication by %s", row.CurrentVersion)
	})
}
