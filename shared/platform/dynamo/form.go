package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/admission"
)

// Form is the highest form of the stored data that this code can be trusted with. The data has a form, too: a number
// that only ./scripts/migrate raises, after a deploy. A release is never deployed on data of a higher form.
//
// The first release has form 3, and data without a number has that form. Lower ones were written before the first release,
// and no release reads them.
const Form = 3

// first is the form of the first release.
const first = 3

// A form is the item with the number.
type form struct {
	Subject string `json:"subject"`
	Part    string `json:"part"`
	Form    int    `json:"form"`
}

// theForm is in a table that is restored with the others. No rollout and no release channel has this name.
var theForm = form{Subject: "data", Part: "form"}

func (f form) key() Key { return Key{"subject": f.Subject, "part": f.Part} }

// CheckForm returns an error if this code must not touch the stored data. The table of Progress has the given name.
func CheckForm(ctx context.Context, api API, table string) error {
	stored := form{Form: first}
	out, err := api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: theForm.key().item(), ConsistentRead: aws.Bool(true)})
	if err == nil {
		err = Decode(Progress, out.Item, &stored)
	}
	if err != nil {
		return fmt.Errorf("dynamo: the form of the stored data cannot be read: %w", err)
	}
	if stored.Form < first || stored.Form > Form {
		return fmt.Errorf("dynamo: item %q of %s: attribute form: the stored data has form %d, and this release knows forms %d to %d: use another release",
			theForm.Subject+" "+theForm.Part, Progress, stored.Form, first, Form)
	}
	return nil
}

// CheckFirst returns an error if the table of channels, which has the given name, was written before the first release, when
// data mostly had no number. Its list of all channels then lies in a partition that nothing writes since.
func CheckFirst(ctx context.Context, api API, table string) error {
	out, err := api.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(table), IndexName: aws.String("all"), Limit: aws.Int32(1),
		KeyConditionExpression: aws.String("#list = :list"), ExpressionAttributeNames: map[string]string{"#list": "list"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":list": &types.AttributeValueMemberS{Value: "channel"}}})
	if err != nil {
		return fmt.Errorf("dynamo: the channels cannot be read: %w", err)
	}
	if len(out.Items) > 0 {
		return errors.New("dynamo: the stored data was written before the first release, and no release reads it: begin with empty tables")
	}
	return nil
}

// RaiseForm makes the stored data's form that of this code. It returns an error if it is higher. It is for
// ./scripts/migrate; no function calls it.
func RaiseForm(ctx context.Context, db *DB) error {
	if err := CheckForm(ctx, db.api, Progress.Name()); err != nil {
		return err
	}
	next := theForm
	next.Form = Form
	err := db.Commit(admission.Unlimited(ctx), TransactPut("form", Progress, nil, next, Condition{
		Expr: "attribute_not_exists(#form) OR #form <= :form", Values: map[string]any{":form": Form}}))
	if Refused(err, "form") { // a newer release has raised it meanwhile
		return CheckForm(ctx, db.api, Progress.Name())
	}
	return err
}
