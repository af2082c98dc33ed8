package dynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A formItem is the item with the form of the data, with any number.
type formItem struct {
	Subject string `json:"subject"`
	Part    string `json:"part"`
	Form    any    `json:"form"`
}

func TestForm_IsCheckedAndRaised(t *testing.T) {
	const other = `item "data form" of progress: attribute form: the stored data has form `
	for _, c := range []struct {
		name   string
		stored any    // nil: no item
		check  string // what CheckForm says; empty: nothing
		raised any    // the form after RaiseForm
		says   string // what RaiseForm says
	}{
		{name: "no number", raised: 3.0},
		{name: "of before the first release", stored: 2, check: other + "2", raised: 2.0, says: other + "2"},
		{name: "the same", stored: dynamo.Form, raised: 3.0},
		{name: "higher", stored: dynamo.Form + 1, check: other + "4", raised: 4.0, says: other + "4"},
		{name: "not a number", stored: "two", check: `item "data form" of progress: attribute form: `, raised: "two", says: "attribute form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
				db, ctx := dynamo.Open(client, time.Now), admission.Unlimited(t.Context())
				key := dynamo.Key{"subject": "data", "part": "form"}
				expect.OK(t, db.Commit(ctx, dynamo.TransactDelete("form", dynamo.Progress, key, dynamo.Condition{})))
				if c.stored != nil {
					expect.OK(t, db.Put(ctx, dynamo.Progress, nil, formItem{"data", "form", c.stored}, dynamo.Condition{}))
				}
				says(t, dynamo.CheckForm(t.Context(), client, dynamo.Progress.Name()), c.check)
				says(t, dynamo.RaiseForm(t.Context(), db), c.says)
				expect.Equal(t, raw(t, client, dynamo.Progress, key)["form"], c.raised, "the form is")
			})
		})
	}
}

// TestCheckFirst_AChannelOfBefore_IsRefused: it is in the partition of that time.
func TestCheckFirst_AChannelOfBefore_IsRefused(t *testing.T) {
	client := dynamotest.Embedded(t)
	db, ctx := dynamo.Open(client, time.Now), admission.Unlimited(t.Context())
	for list, want := range map[string]string{"channels": "", "channel": "written before the first release"} {
		item := struct {
			EdgeType string `json:"edgeType"`
			Channel  string `json:"channel"`
			List     string `json:"list"`
			ListKey  string `json:"listKey"`
		}{"gateway-x", "stable", list, "gateway-x stable"}
		expect.OK(t, db.Put(ctx, dynamo.Channels, nil, item, dynamo.Condition{}))
		says(t, dynamo.CheckFirst(ctx, client, dynamo.Channels.Name()), want)
	}
	says(t, dynamo.CheckFirst(ctx, client, "no-such-table"), "the channels cannot be read")
}

func TestCheckForm_NoTable_IsSaid(t *testing.T) {
	says(t, dynamo.CheckForm(t.Context(), dynamotest.Embedded(t), "no-such-table"), "the form of the stored data cannot be read")
}

func says(t *testing.T, err error, want string) {
	t.Helper()
	expect.Error(t, err, want, "it says")
}
