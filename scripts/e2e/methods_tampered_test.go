package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/platform/canonical"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/production/chain"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// verified compares the bench's method with the trail, as an auditor does. Its calls are not checked against the
// contract, because rows are changed by hand here.
func (b *bench) verified(kept ...chain.Kept) (verify.Conclusion, error) {
	return b.verifiedBy(b.approver, time.Now(), kept...)
}

// verifiedBy compares as a person does at another time.
func (b *bench) verifiedBy(by *harness.Caller, now time.Time, kept ...chain.Kept) (verify.Conclusion, error) {
	get := func(ctx context.Context, path string) ([]byte, error) { return b.read(ctx, by, path) }
	return verify.MethodAt(b.Context(), now, get, "munich-1", id(b.path), kept)
}

// read reads a path of the API.
func (b *bench) read(ctx context.Context, by *harness.Caller, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, by.URL+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", by.Bearer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, answer.StatusCode, body)
	}
	return body, err
}

func (b *bench) rows(id dynamo.TableID) []map[string]types.AttributeValue {
	b.Helper()
	page, err := b.w.DB.Scan(b.Context(), &dynamodb.ScanInput{TableName: aws.String(dynamolocal.TableName(id)), ConsistentRead: aws.Bool(true)})
	if err != nil {
		b.Fatal(err)
	}
	return page.Items
}

func (b *bench) put(id dynamo.TableID, item map[string]types.AttributeValue) {
	b.Helper()
	if _, err := b.w.DB.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(id)), Item: item}); err != nil {
		b.Fatal(err)
	}
}

// The addresses and the actors' names are erased directly in the table, each with its salt.
func TestMethods_ErasedAddressesAndActors_LeaveTheChainWhole(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	erased := 0
	for _, event := range b.rows(dynamo.Audit) {
		held, salted := event["salts"].(*types.AttributeValueMemberM)
		if !salted {
			continue
		}
		for pointer, at := range map[string]map[string]types.AttributeValue{"/sourceIp": event, "/actor/userId": event["actor"].(*types.AttributeValueMemberM).Value} {
			name := pointer[strings.LastIndex(pointer, "/")+1:]
			pseudonym, ok := chain.Pseudonym(held.Value[pointer].(*types.AttributeValueMemberS).Value, at[name].(*types.AttributeValueMemberS).Value)
			expect.Must(t, ok, "%s has the salts %v", pointer, held.Value)
			at[name] = &types.AttributeValueMemberS{Value: pseudonym}
			delete(held.Value, pointer)
			erased++
		}
		b.put(dynamo.Audit, event)
	}
	if r, err := b.verified(); erased != 16 || err != nil || len(r.Findings) > 0 {
		t.Errorf("%d values of 4 changes erased: %v, %v", erased, r.Findings, err)
	}
}

// The head row is reset by hand to its state before a release: the poll follows it, but the machine's record and the
// comparison reveal it.
func TestMethods_HeadSetBack_IsFound(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	old := b.rows(dynamo.Methods)[0]
	b.release(2, another("Two"))
	b.put(dynamo.Methods, old)
	r, err := b.verified()
	expect.That(t, err == nil && strings.Contains(strings.Join(r.Findings, "\n"), "effectivity differs from the trail"),
		"%v, %v", r.Findings, err)
}

// Content that nobody approved is stored under its own hash, and the version and the head name it.
func TestMethods_ContentThatNobodyApproved_IsNotServedAndIsFound(t *testing.T) {
	b := newBench(t)
	b.w.Owner(t).Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusCreated)
	b.release(1, smallContent)
	b.w.Box(t, "box-1").Get(t, b.version(1)+"/content").Is(t, http.StatusOK)
	forged := expect.Value(canonical.JSON([]byte(another("Press harder"))))(t)
	hash := canonical.SHA256(forged)
	content := b.rows(dynamo.MethodContents)[0]
	content["bytes"], content["sha256"] = &types.AttributeValueMemberS{Value: string(forged)}, &types.AttributeValueMemberS{Value: hash}
	b.put(dynamo.MethodContents, content)
	version := b.rows(dynamo.MethodVersions)[0]
	version["contentSha256"] = &types.AttributeValueMemberS{Value: hash}
	b.put(dynamo.MethodVersions, version)
	head := b.rows(dynamo.Methods)[0]
	decision := head["effectivity"].(*types.AttributeValueMemberL).Value[0].(*types.AttributeValueMemberM)
	decision.Value["contentSha256"] = &types.AttributeValueMemberS{Value: hash}
	b.put(dynamo.Methods, head)
	b.w.Box(t, "box-1").Get(t, b.version(1)+"/content").Refused(t, problem.NotFound)
	r, err := b.verified()
	expect.That(t, err == nil && len(r.Findings) >= 3, "%v, %v", r.Findings, err)
}

// A machine's record is found only with its own version and content. An unknown method, or one without a version, is
// an error.
func TestMethods_Verified_ByWhatMachinesKept(t *testing.T) {
	b := newBench(t)
	if _, err := b.verified(); err == nil {
		t.Error("a method without a version is verified")
	}
	b.release(1, smallContent)
	hash, first := fmt.Sprint(b.author.Get(t, b.path).Object(t)["trailSha256"]), b.hash(1)
	b.release(2, another("Two"))
	for name, c := range map[string]struct {
		kept  chain.Kept
		found bool
	}{
		"the hash":            {chain.Kept{Hash: hash}, true},
		"all three":           {chain.Kept{Hash: hash, Version: 1, Content: first}, true},
		"another version":     {chain.Kept{Hash: hash, Version: 2, Content: b.hash(2)}, false},
		"another content":     {chain.Kept{Hash: hash, Version: 1, Content: b.hash(2)}, false},
		"a hash of elsewhere": {chain.Kept{Hash: digest("a")}, false},
	} {
		r, err := b.verified(c.kept)
		expect.That(t, err == nil && (len(r.Findings) == 0) == c.found, "%s: %v, %v", name, r.Findings, err)
	}
	b.path = strings.Replace(b.path, id(b.path), "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70", 1)
	_, err := b.verified()
	expect.That(t, err != nil, "an unknown method is verified")
}
