package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	production "wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// A spoilt row has a finding that names it.
type spoilt struct {
	*bench
	owner *harness.Caller
	tried int
}

// reported makes a recalled version about which machines and people have said everything that they can say: press-1 has
// two orders and other bytes, and a person has confirmed for press-2.
func reported(t *testing.T) *spoilt {
	t.Helper()
	b := benchIn(t, harness.New(t, withSettings("LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000")))
	s := &spoilt{bench: b, owner: b.w.Owner(t)}
	s.owner.Put(t, "/api/edges/box-1", registration("munich-1", "")).Is(t, http.StatusCreated)
	b.author.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press 1","edgeId":"box-1"}`).Is(t, http.StatusNoContent)
	b.release(1, smallContent)
	box := b.w.Box(t, "box-1")
	running := b.says(1, "running")
	box.Put(t, b.report("press-1"), running).Is(t, http.StatusCreated)
	box.Put(t, b.report("press-1"), strings.Replace(running, "PO-1", "PO-2", 1)).Is(t, http.StatusNoContent)
	box.Put(t, b.report("press-1"), strings.Replace(running, b.hash(1), digest("a"), 1)).Refused(t, problem.ContentChanged)
	b.move(b.author, 1, "withdrawn", "").Is(t, http.StatusOK)
	box.Put(t, b.report("press-1"), strings.Replace(running, "PO-1", "PO-3", 1)).Refused(t, problem.VersionWithdrawn)
	b.author.Put(t, b.version(1)+"/machines/press-2/confirmation", `{"reason":"the press is empty"}`).Is(t, http.StatusCreated)
	s.agrees()
	return s
}

func (s *spoilt) agrees() {
	s.Helper()
	r, err := s.verifiedBy(s.owner, time.Now())
	if err != nil || len(r.Findings)+len(r.Unseen) > 0 {
		s.Fatalf("untouched: %v, %v, %v", r.Findings, r.Unseen, err)
	}
}

// found verifies after something was done by hand.
func (s *spoilt) found(what, names string) {
	s.Helper()
	s.tried++
	r, err := s.verifiedBy(s.owner, time.Now())
	if err != nil || !strings.Contains(strings.Join(r.Findings, "\n"), names) {
		s.Errorf("%s: %v, %v, want a finding about %q", what, r.Findings, err, names)
	}
}

func (s *spoilt) remove(id dynamo.TableID, item map[string]types.AttributeValue) {
	s.Helper()
	table := dynamo.TableOf(id)
	key := map[string]types.AttributeValue{table.Partition: item[table.Partition]}
	if table.Sort != "" {
		key[table.Sort] = item[table.Sort]
	}
	_, err := s.w.DB.DeleteItem(s.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(dynamolocal.TableName(id)), Key: key})
	if err != nil {
		s.Fatal(err)
	}
}

// empty reports whether an attribute says as much as a missing one.
func empty(v types.AttributeValue) bool {
	s, text := v.(*types.AttributeValueMemberS)
	_, null := v.(*types.AttributeValueMemberNULL)
	return null || text && s.Value == ""
}

func textOf(item map[string]types.AttributeValue, name string) string {
	if s, is := item[name].(*types.AttributeValueMemberS); is {
		return s.Value
	}
	return ""
}

// TestTampered_EachFieldOfEachReport_IsNamed: also a field that the row does not have, and a removed one.
func TestTampered_EachFieldOfEachReport_IsNamed(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	s := reported(t)
	number := func(n string) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberN{Value: n}}}
	}
	for _, item := range s.rows(dynamo.MethodReports) {
		code := textOf(item, "machine")
		for _, name := range append(slices.Sorted(maps.Keys(item)), "unlisted", "gone") {
			if name == "methodId" || name == "machine" || name == "subject" { // the keys, and whose calls show when the box was heard
				continue
			}
			was, has := item[name]
			for how, value := range map[string]types.AttributeValue{"changed": altered(was), "removed": nil, "added": number("1")} {
				if has == (how == "added") || how == "removed" && empty(was) {
					continue
				}
				changed := maps.Clone(item)
				if changed[name] = value; value == nil {
					delete(changed, name)
				}
				s.put(dynamo.MethodReports, changed)
				names := "machine " + code
				if _, null := was.(*types.AttributeValueMemberNULL); null {
					names = "version 1: the service cannot list its machines"
				}
				s.found(fmt.Sprintf("%s of the report of %s, %s", name, code, how), names)
			}
		}
		s.put(dynamo.MethodReports, item)
	}
	s.agrees()
	t.Logf("%d changes", s.tried)
}

// TestTampered_RowsAndEventsOfARecall_RemovedOrChanged_AreNamed removes each row that a recall rests on, and each event.
func TestTampered_RowsAndEventsOfARecall_RemovedOrChanged_AreNamed(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	s := reported(t)
	for id, names := range map[dynamo.TableID]string{
		dynamo.MethodReports: "machine ", dynamo.MethodPlaces: "does not hear of the method", dynamo.MethodVersions: "version 1",
		dynamo.MethodContents: "version 1", dynamo.Machines: "the factory has had 2 machines, and only 1 are shown",
	} {
		for _, item := range s.rows(id) {
			s.remove(id, item)
			s.found(fmt.Sprintf("a row of %s is removed", id), names)
			s.put(id, item)
		}
	}
	for _, event := range s.rows(dynamo.Audit) {
		resource, _ := event["resource"].(*types.AttributeValueMemberM)
		kind := textOf(resource.Value, "type")
		if kind == "edge" {
			continue // what a box is now is in its own row
		}
		what := fmt.Sprintf("the event %s of %s %s", textOf(event, "eventName"), kind, textOf(resource.Value, "id"))
		s.remove(dynamo.Audit, event)
		s.found(what+" is removed", "")
		if kind == production.OnMachineResourceType { // the row has the hash of the last one
			for _, name := range []string{"actor", "after", "eventName", "eventTime", "requestId"} {
				changed := maps.Clone(event)
				changed[name] = altered(event[name])
				if name == "eventTime" {
					continue // it is in the key of the event's index
				}
				s.put(dynamo.Audit, changed)
				s.found(what+": "+name+" is changed", "machine ")
			}
		}
		s.put(dynamo.Audit, event)
	}
	s.agrees()
	t.Logf("%d changes", s.tried)
}

// TestTampered_RuleOfTheFactory_IsNamed: each field of the row that has the rule for approvals. The counts of
// machines in it are not shown: the numbers of later decisions give them away.
func TestTampered_RuleOfTheFactory_IsNamed(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	s := reported(t)
	item := s.rows(dynamo.Factories)[0]
	item["methodApproval"] = &types.AttributeValueMemberS{Value: "single"}
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if name == "factoryId" || name == "organizationId" || strings.HasPrefix(name, "machine") {
			continue
		}
		changed := maps.Clone(item)
		delete(changed, "methodApproval")
		if changed[name] = item[name]; name != "methodApproval" {
			changed[name] = altered(item[name])
		}
		s.put(dynamo.Factories, changed)
		s.found(name, "the factory")
	}
	delete(item, "methodApproval")
	item["machineChanges"] = &types.AttributeValueMemberN{Value: "1"}
	s.put(dynamo.Factories, item)
	s.release(2, another("Two"))
	s.found("machineChanges", "the factory's count of changes of machines went back from 3 to 1")
}

// TestTampered_WatchOfARecall_IsNamed changes each field of the watch of a recall, or removes it. Two hours later, the
// missing or wrong warning is found. Time passes by hand, too: the tick sees watches that are half an hour old. The revision
// is not changed: it only orders writes, and no warning follows from it.
func TestTampered_WatchOfARecall_IsNamed(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	b := benchIn(t, harness.New(t, withSettings("LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000")))
	b.release(1, smallContent)
	spoil := []string{"", "row", "since", "organizationId", "factoryId", "methodId", "version"}
	for i := range spoil {
		if i > 0 {
			b.release(i+1, another(fmt.Sprint("Step ", i)))
		}
		b.move(b.author, i+1, "withdrawn", "").Is(t, http.StatusOK)
	}
	earlier := &types.AttributeValueMemberS{Value: time.Now().Add(-production.ConfirmWithin).UTC().Format(time.RFC3339Nano)}
	s := &spoilt{bench: b}
	for _, item := range s.rows(dynamo.Progress) {
		if textOf(item, "subject") != "recalls" {
			continue
		}
		number := item["version"].(*types.AttributeValueMemberN).Value
		name := spoil[number[0]-'1']
		item["since"] = earlier
		switch name {
		case "":
		case "row":
			s.remove(dynamo.Progress, item)
			continue
		case "since":
			item["since"] = &types.AttributeValueMemberS{Value: time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339Nano)}
		case "version":
			item[name] = &types.AttributeValueMemberN{Value: "1"}
		default:
			item[name] = altered(item[name])
		}
		s.put(dynamo.Progress, item)
	}
	_ = b.w.RunTask(t.Context(), operations.Tick) // it may complain of what it cannot read
	r := expect.Value(b.verifiedBy(b.approver, time.Now().Add(3*production.ConfirmWithin)))(t)
	all := strings.Join(r.Findings, "\n")
	for i, name := range spoil {
		named := strings.Contains(all, fmt.Sprintf("version %d: ", i+1))
		expect.That(t, named == (name != ""), "%q of the watch of version %d: named %v in\n%s", name, i+1, named, all)
	}
}

// TestTampered_EachFieldOfEachRow_IsFound changes the stored data directly, one field at a time: also of a machine that is scrapped, of
// one that no version names, which may have lost the class by which one did, and of a method that is renamed and retired.
func TestTampered_EachFieldOfEachRow_IsFound(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	b := benchIn(t, harness.New(t, withSettings("LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000")))
	b.release(1, smallContent)
	b.release(2, another("Two"))
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	b.save(3, another("Three")).Is(t, http.StatusCreated)
	b.move(b.author, 3, "in_review", "").Is(t, http.StatusOK)
	b.move(b.approver, 3, "trial", `,"machines":["press-1"]`).Is(t, http.StatusOK)
	b.approver.Put(t, "/api/factories/munich-1/machines/press-1", `{"name":"Press","admission":{"reason":"inspected"}}`).Is(t, http.StatusNoContent)
	b.author.Put(t, "/api/factories/munich-1/machines/press-2", `{"name":"Press","scrapped":{"reason":"sold"}}`).Is(t, http.StatusNoContent)
	b.author.Put(t, "/api/factories/munich-1/machines/lathe-1", `{"name":"Lathe","classes":["lathe"]}`).Is(t, http.StatusCreated)
	changed := b.tampered(dynamo.Methods, dynamo.MethodVersions, dynamo.MethodContents, dynamo.Machines)
	for _, version := range []int{2, 3} {
		b.move(b.author, version, "withdrawn", "").Is(t, http.StatusOK)
	}
	b.author.Patch(t, b.path, `{"name":"Pressed","retired":true,"reason":"not made"}`).Is(t, http.StatusOK)
	changed += b.tampered(dynamo.Methods)
	t.Logf("%d fields", changed)
}

// tampered changes each field of the rows of some tables, and counts them.
func (b *bench) tampered(tables ...dynamo.TableID) (changed int) {
	b.Helper()
	agrees := func(when string) {
		b.Helper()
		r, err := b.verified()
		expect.Must(b, err == nil && len(r.Findings) == 0, "%s: %v, %v", when, r.Findings, err)
	}
	agrees("untouched")
	for _, id := range tables {
		table := dynamo.TableOf(id)
		for _, item := range b.rows(id) {
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if name == table.Partition || name == table.Sort {
					continue // it would be another row
				}
				was := item[name]
				item[name] = altered(was)
				b.put(id, item)
				r, err := b.verified()
				if err == nil && len(r.Findings) == 0 {
					b.Errorf("%s: %s was changed from %v to %v, and all agrees", id, name, was, item[name])
				}
				if err != nil && strings.Contains(err.Error(), string(problem.RateLimited)) {
					b.Fatal(err)
				}
				item[name] = was
				b.put(id, item)
				changed++
			}
		}
	}
	agrees("after all was put back")
	return changed
}

// altered returns another value of the same type.
func altered(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if at, rest, ok := strings.Cut(v.Value, "T"); ok && len(at) == 10 && strings.HasPrefix(at, "20") {
			return &types.AttributeValueMemberS{Value: "2001-01-01T" + rest}
		}
		if strings.HasPrefix(v.Value, "{") {
			return &types.AttributeValueMemberS{Value: strings.Replace(v.Value, "PT1M", "PT2M", 1)}
		}
		return &types.AttributeValueMemberS{Value: "x" + v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value + "1"}
	case *types.AttributeValueMemberL:
		return &types.AttributeValueMemberL{Value: v.Value[:len(v.Value)-1]}
	case *types.AttributeValueMemberM:
		less := maps.Clone(v.Value)
		for name := range less {
			delete(less, name)
			break
		}
		return &types.AttributeValueMemberM{Value: less}
	}
	return &types.AttributeValueMemberS{Value: "x"}
}
