package command_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"wavegate/scripts/operator/run"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	production "wavegate/shared/production/method"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

// pageSays prints what the page says about the machines on its input, a line each.
const pageSays = `import { deviation, orders, said } from %q;
let text = '';
for await (const part of process.stdin) text += part;
for (const m of JSON.parse(text)) {
	const { state, since, by } = said(m);
	console.log([m.machine, state ?? '-', since ?? '-', by ?? '-', orders(m) || '-', m.told ?? '-', m.deviates ? deviation(m.deviates) + ' since ' + m.deviates.since : '-', Boolean(m.withoutBox)].join('|'));
}`

// TestRecall_CommandPageAndNotices_SayWhatTheListSays: who still has the version, since when, who said so, what runs under
// which order, and who deviates.
func TestRecall_CommandPageAndNotices_SayWhatTheListSays(t *testing.T) {
	node := expect.Program(t, "https://nodejs.org has it", "node")
	d := newDesk(t)
	id, path, method := recalledOnFivePresses(t, d)

	var page struct{ Items []production.Reached }
	d.Engineer(t, "acme").Get(t, path+"/versions/1/machines").Is(t, http.StatusOK).Into(t, &page)
	var want []string
	left := []string{}
	for _, m := range page.Items {
		want = append(want, listed(m))
		if !m.Clear {
			left = append(left, m.Machine)
		}
	}
	expect.Equal(t, strings.Join(left, " "), "press-1 press-4 press-5", "the machines that are left")

	out := d.does("methods", "machines", "munich-1", method, "1")
	out.is(run.Done)
	expect.Equal(t, strings.Join(commandSays(t, out.out), "\n"), strings.Join(want, "\n"), "the command says")
	list := d.does("methods", "machines", "munich-1", method, "1", "--left")
	expect.Equal(t, len(commandSays(t, list.out)), len(left), "with --left, the number of machines is")

	items := expect.Value(timestamp.JSON(page.Items))(t)
	module := expect.Value(filepath.Abs("../../../functions/console/page/said.mjs"))(t)
	c := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", fmt.Sprintf(pageSays, "file://"+filepath.ToSlash(module)))
	c.Stdin = strings.NewReader(string(items))
	said, err := c.CombinedOutput()
	expect.Must(t, err == nil, "%v: %s", err, said)
	expect.Equal(t, strings.TrimSpace(string(said)), strings.Join(want, "\n"), "the page says")

	d.halfAnHourLater(t, id)
	warned := d.Events(t, production.RecallResourceType, id)
	expect.Must(t, len(warned) == 1, "warned with %v", warned)
	cause, _ := warned[0]["cause"].(map[string]any)
	expect.Equal(t, fmt.Sprint(cause["machines"], cause["left"], cause["of"]), fmt.Sprint(left, len(left), len(page.Items)), "the notice names")
	for _, m := range page.Items {
		deviates := 0
		for _, e := range d.Events(t, production.OnMachineResourceType, m.Machine+"/"+method) {
			if e["eventName"] == production.MachineDeviates {
				deviates++
			}
		}
		expect.Equal(t, deviates > 0, m.Deviates != nil, "notices that %s deviates", m.Machine)
	}
}

// recalledOnFivePresses makes a recall: press-1 runs two orders and deviates, a person has confirmed for press-2, press-3
// has finished, press-4 has loaded it and lost its box, and nothing was said about press-5.
func recalledOnFivePresses(t *testing.T, d *desk) (recall, path, method string) {
	t.Helper()
	eric, anna, owner := d.Engineer(t, "acme"), d.Admin(t, "acme"), d.Owner(t)
	owner.Put(t, "/api/factories/munich-1", `{"organizationId":"acme","name":"Munich"}`).Is(t, http.StatusCreated)
	for _, box := range []string{"box-1", "box-4"} {
		owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme","factoryId":"munich-1"}`).Is(t, http.StatusCreated)
	}
	for i, box := range []string{`"box-1"`, "null", `"box-1"`, `"box-4"`, "null"} {
		eric.Put(t, fmt.Sprintf("/api/factories/munich-1/machines/press-%d", i+1), fmt.Sprintf(`{"name":"Press","classes":["press"],"edgeId":%s}`, box)).Is(t, http.StatusCreated)
	}
	path = eric.Post(t, "/api/factories/munich-1/production-methods", `{"productId":"7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11","name":"Pressing"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	method = path[strings.LastIndex(path, "/")+1:]
	eric.Put(t, path+"/versions/1/content", pressed).Is(t, http.StatusCreated)
	eric.Patch(t, path+"/versions/1", `{"status":"in_review","reason":"ready"}`).Is(t, http.StatusOK)
	hash := fmt.Sprint(eric.Get(t, path+"/versions/1").Object(t)["contentSha256"])
	anna.Patch(t, path+"/versions/1", fmt.Sprintf(`{"status":"released","reason":"good","contentSha256":%q}`, hash)).Is(t, http.StatusOK)
	says := func(box, machine, state, order, content string) int {
		body := fmt.Sprintf(`{"version":1,"contentSha256":%q,"state":%q%s}`, content, state, order)
		return d.Box(t, box).Put(t, "/api/factories/munich-1/machines/"+machine+"/methods/"+method+"/report", body).Status
	}
	says("box-1", "press-1", "running", `,"order":"PO-1"`, hash)
	says("box-1", "press-1", "running", `,"order":"PO-2"`, hash)
	says("box-1", "press-3", "running", `,"order":"PO-3"`, hash)
	says("box-4", "press-4", "loaded", "", hash)
	eric.Patch(t, path+"/versions/1", `{"status":"withdrawn","reason":"danger"}`).Is(t, http.StatusOK)
	says("box-1", "press-3", "finished", "", hash)
	expect.Equal(t, says("box-1", "press-1", "running", `,"order":"PO-2"`, hash), http.StatusConflict, "a running order is answered with")
	expect.Equal(t, says("box-1", "press-1", "running", `,"order":"PO-9"`, strings.Repeat("a", 64)), http.StatusConflict, "other bytes are answered with")
	eric.Put(t, path+"/versions/1/machines/press-2/confirmation", `{"reason":"it is empty"}`).Is(t, http.StatusCreated)
	owner.Do(t, http.MethodDelete, "/api/edges/box-4", "").Is(t, http.StatusOK)
	says("box-4", "press-4", "finished", "", hash) // nobody hears it
	eric.Put(t, path+"/versions/1/machines/press-3/confirmation", `{"reason":"again"}`).Refused(t, problem.InvalidStateTransition)
	return "munich-1/" + method + "/1", path, method
}

// listed is a machine of the list in the words of the command.
func listed(m production.Reached) string {
	state, since, by, orders := "-", "-", "-", []string{}
	switch {
	case m.Confirmed != nil:
		state, since, by = "confirmed", timestamp.Text(m.Confirmed.At), "person "+m.Confirmed.UserID
		if m.Confirmed.Name != "" {
			by = "person " + m.Confirmed.Name
		}
	case m.State != "":
		state, since, by = string(m.State), timestamp.Text(*m.Since), "machine"
	}
	for _, o := range m.Orders {
		orders = append(orders, o.Order)
	}
	dash := func(text string) string {
		if text == "" {
			return "-"
		}
		return text
	}
	deviates := "-"
	if m.Deviates != nil {
		deviates = fmt.Sprintf("%s content %.12s since %s", m.Deviates.State, m.Deviates.ContentSHA256, timestamp.Text(m.Deviates.Since))
	}
	return strings.Join([]string{m.Machine, state, since, by, dash(strings.Join(orders, ", ")), dash(string(m.Told)), deviates, fmt.Sprint(m.WithoutBox)}, "|")
}

var columns = regexp.MustCompile(`\s{2,}`)

// commandSays returns the command's table in the same words.
func commandSays(t *testing.T, out string) (rows []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines[1:] {
		f := columns.Split(strings.TrimSpace(line), -1)
		expect.Must(t, len(f) == 9, "%d columns: %q in\n%s", len(f), line, out)
		deviates, is := strings.CutPrefix(f[8], "deviates: ")
		if !is {
			deviates = "-"
		}
		without := f[1] == "none" || strings.HasSuffix(f[1], "(cannot report)")
		rows = append(rows, strings.Join([]string{f[0], f[2], f[3], f[4], f[5], f[6], deviates, fmt.Sprint(without)}, "|"))
	}
	return rows
}

// halfAnHourLater lets half an hour pass for a recall, and ticks.
func (d *desk) halfAnHourLater(t *testing.T, recall string) {
	t.Helper()
	_, err := d.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:        aws.String(dynamolocal.TableName(dynamo.Progress)),
		Key:              map[string]types.AttributeValue{"subject": &types.AttributeValueMemberS{Value: "recalls"}, "part": &types.AttributeValueMemberS{Value: recall}},
		UpdateExpression: aws.String("SET since = :since"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":since": &types.AttributeValueMemberS{
			Value: time.Now().Add(-production.ConfirmWithin).UTC().Format(time.RFC3339Nano)}},
	})
	expect.OK(t, err)
	expect.OK(t, d.RunTask(t.Context(), operations.Tick))
}
