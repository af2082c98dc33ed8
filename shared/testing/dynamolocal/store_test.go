package dynamolocal

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// each runs a test on a new store of each kind that this machine can run.
func each(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Run("embedded", func(t *testing.T) {
		s := expect.Value(Embedded())(t)
		t.Cleanup(func() { s.Close() })
		test(t, s)
	})
	if os.Getenv("WAVEGATE_REFERENCE_STORE") == "" {
		return // as in dynamotest.Each
	}
	s := expect.Value(Reference(t.Context(), ReferenceOptions{}))(t)
	t.Run("reference", func(t *testing.T) { test(t, s) })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if answer, err := http.Get(s.Endpoint); err == nil {
		answer.Body.Close()
		t.Error("the reference still answers after its end")
	}
}

func TestCreateTables_MakesEveryTable_AndTwiceChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		db := s.Client()
		expect.OK(t, CreateTables(t.Context(), db))
		for _, want := range dynamo.Tables {
			out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(TableName(want.ID))})
			if err != nil {
				t.Errorf("%s: %v", want.ID, err)
				continue
			}
			expect.Equal(t, keys(out.Table.KeySchema), key(want.Partition, want.Sort), "%s has the key", want.ID)
			indexes := map[string]string{}
			for _, x := range out.Table.GlobalSecondaryIndexes {
				indexes["global "+*x.IndexName] = keys(x.KeySchema)
			}
			for _, x := range out.Table.LocalSecondaryIndexes {
				indexes["local "+*x.IndexName] = keys(x.KeySchema)
			}
			expect.Equal(t, len(indexes), len(want.Indexes), "%s has the indexes %v", want.ID, indexes)
			for _, x := range want.Indexes {
				kind := "global "
				if x.Local {
					kind = "local "
				}
				expect.Equal(t, indexes[kind+x.Name], key(x.Partition, x.Sort), "%s: the %sindex %s has the key", want.ID, kind, x.Name)
			}
		}
		putFactory(t, s, "munich-1")
		expect.OK(t, CreateTables(t.Context(), db))
		expect.That(t, has(t, s, "munich-1"), "the item is gone")
	})
}

func TestReference_WithoutJava_SaysHowToGetIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Reference(t.Context(), ReferenceOptions{})
	missing, ok := errors.AsType[*MissingError](err)
	expect.That(t, ok && strings.Contains(missing.How, "openjdk-17-jdk-headless"), "got %v", err)
}

func TestUnpack_AnotherArchive_IsNotUsed(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.tgz")
	expect.OK(t, os.WriteFile(archive, []byte("not the pinned hash"), 0o600))
	expect.Error(t, unpack(archive, filepath.Join(dir, "out")), archiveSHA256, "got")
	_, err := os.Stat(filepath.Join(dir, "out"))
	expect.That(t, err != nil, "something was unpacked")
}

func putFactory(t *testing.T, s *Store, id string) {
	t.Helper()
	expect.Value(s.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(TableName(dynamo.Factories)), Item: factory(id)}))(t)
}

func has(t *testing.T, s *Store, id string) bool {
	t.Helper()
	out := expect.Value(s.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(TableName(dynamo.Factories)), Key: factory(id)}))(t)
	return len(out.Item) > 0
}

func factory(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"factoryId": &types.AttributeValueMemberS{Value: id}}
}

func key(partition, sort string) string {
	if sort == "" {
		return partition
	}
	return partition + " + " + sort
}

func keys(schema []types.KeySchemaElement) string {
	var names [2]string
	for _, k := range schema {
		if k.KeyType == types.KeyTypeHash {
			names[0] = *k.AttributeName
		} else {
			names[1] = *k.AttributeName
		}
	}
	return key(names[0], names[1])
}
