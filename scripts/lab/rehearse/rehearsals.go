package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
)

// first deploys a stage, deploys it again, and destroys it. The second deploy replaces nothing, and the
// end leaves nothing.
func first(ctx context.Context, w *workspace) error {
	s, err := w.present(ctx, "dev")
	if err != nil {
		return err
	}
	if err := s.deployAll(ctx); err != nil {
		return err
	}
	before, err := s.physical(ctx)
	if err != nil {
		return err
	}
	if err := s.deployAll(ctx); err != nil {
		return err
	}
	after, err := s.physical(ctx)
	if err != nil {
		return err
	}
	for id, r := range before {
		if after[id] != r {
			return fmt.Errorf("a second deploy replaced %s: %s became %s", id, r, after[id])
		}
	}
	say("a second deploy left all %d resources in place", len(before))
	return s.end(ctx, nil)
}

// upgrade deploys the stage as it was, writes to it, and deploys it as it is: tables, what is in them, and
// the user pool are the same.
func upgrade(ctx context.Context, w *workspace) error {
	was, err := w.past(ctx, "dev")
	if err != nil {
		return err
	}
	if err := was.deployAll(ctx); err != nil {
		return err
	}
	before, err := w.cloud.resources(ctx, was.data())
	if err != nil {
		return err
	}
	table := tableOf(before, dynamo.Factories)
	item := map[string]types.AttributeValue{"factoryId": &types.AttributeValueMemberS{Value: "munich-1"}, "name": &types.AttributeValueMemberS{Value: "Munich"}}
	if _, err := w.cloud.db().PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		return err
	}

	is, err := w.present(ctx, "dev")
	if err != nil {
		return err
	}
	if err := is.deployAll(ctx); err != nil {
		return err
	}
	after, err := w.cloud.resources(ctx, is.data())
	if err != nil {
		return err
	}
	kept := 0
	for id, r := range before {
		if !slices.Contains([]string{"AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Cognito::UserPoolGroup"}, r.Type) {
			continue
		}
		if kept++; after[id].Physical != r.Physical {
			return fmt.Errorf("%s was %s and is %s", id, r.Physical, after[id].Physical)
		}
	}
	out, err := w.cloud.db().GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{"factoryId": item["factoryId"]},
	})
	if err != nil {
		return err
	}
	if len(out.Item) != len(item) {
		return fmt.Errorf("what was written is gone: %v", out.Item)
	}
	say("the upgrade kept %d tables, pools and groups, and what is in them", kept)
	return is.end(ctx, nil)
}

// keep deploys a stage that keeps its data. It is not destroyed by one slip, and when it is, its tables stay.
func keep(ctx context.Context, w *workspace) error {
	s, err := w.present(ctx, "kept", "keep=true")
	if err != nil {
		return err
	}
	if err := s.deployAll(ctx); err != nil {
		return err
	}
	if err := s.destroy(ctx); err == nil {
		return errors.New("the stacks were destroyed, protected as they are")
	}
	states, err := w.cloud.stacks(ctx)
	if err != nil {
		return err
	}
	for _, stack := range s.stacks() {
		if states[stack] == "" {
			return fmt.Errorf("%s is gone, protected as it was", stack)
		}
		if err := w.cloud.unprotect(ctx, stack); err != nil {
			return err
		}
	}
	say("the stacks were not destroyed while they were protected")
	tables, err := w.cloud.tables(ctx)
	if err != nil {
		return err
	}
	return s.end(ctx, tables)
}

// physical lists the physical ids of all stacks.
func (v *version) physical(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, stack := range v.stacks() {
		resources, err := v.in.cloud.resources(ctx, stack)
		if err != nil {
			return nil, err
		}
		for id, r := range resources {
			all[stack+" "+id] = r.Physical
		}
	}
	return all, nil
}

// end destroys all stacks and checks which tables are left.
func (v *version) end(ctx context.Context, want []string) error {
	if err := v.destroy(ctx); err != nil {
		return err
	}
	states, err := v.in.cloud.stacks(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if strings.HasPrefix(name, "wavegate-") {
			return fmt.Errorf("%s is left: %s", name, states[name])
		}
	}
	tables, err := v.in.cloud.tables(ctx)
	if err != nil {
		return err
	}
	slices.Sort(tables)
	slices.Sort(want)
	if !slices.Equal(tables, want) {
		return fmt.Errorf("left are the tables %v, want %v", tables, want)
	}
	say("the stacks are destroyed, and %d tables are left", len(tables))
	return nil
}

// tableOf is the name of a table among a stack's resources.
func tableOf(resources map[string]resource, id dynamo.TableID) string {
	for logical, r := range resources {
		if r.Type == "AWS::DynamoDB::Table" && strings.HasPrefix(logical, "table"+string(id)) {
			return r.Physical
		}
	}
	return ""
}
