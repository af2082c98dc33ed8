package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/release"
)

// An own is what a person of an organization sees: its boxes, and what rollouts do with them.
type own struct {
	fleet
	answer api.Response
}

type fleet struct {
	census.Fleet
	census.Supports
}

// ownOf reads what the person's organization sees, if the person may not see the platform. It returns the refusal of the
// platform's if the person belongs to no organization.
func ownOf(ctx context.Context, c *run.Call, refusal error) (own, error) {
	if !run.Forbidden(refusal) {
		return own{}, refusal
	}
	me, _, err := api.Get[struct {
		OrganizationID string `json:"organizationId"`
	}](ctx, c, "/api/rate-limits/me", nil)
	if err != nil || me.OrganizationID == "" {
		return own{}, refusal
	}
	found, answer, err := api.Get[fleet](ctx, c, api.Path("/api/organizations/%s/fleet", me.OrganizationID), asked(true))
	return own{found, answer}, err
}

// on returns one of the organization's channels.
func (o own) on(name string) (census.OwnChannel, error) {
	for _, channel := range o.Channels {
		if release.Pair(channel.EdgeType, channel.Channel) == name {
			return channel, nil
		}
	}
	return census.OwnChannel{}, run.Fail(run.Refused, "%s has no box on %s", o.OrganizationID, name)
}

// ownStatus shows the organization's channels.
func ownStatus(c *run.Call, o own, most int) error {
	if c.JSON {
		c.Show(o.answer.Body)
		return nil
	}
	if len(o.Channels) == 0 {
		c.Say("%s has no box yet", o.OrganizationID)
		return nil
	}
	tellSupport(c, o.Supports)
	shown := o.Channels
	if most > 0 {
		shown = shown[:min(most, len(shown))]
	}
	rows := []string{"CHANNEL\tVERSION\tBOXES\tROLLOUT\tSTAGE\tINSTALLED\tBAD"}
	for _, channel := range shown {
		target, stage, installed, bad := "-", "-", "-", "-"
		if r := channel.Rollout; r != nil {
			sum := census.Total(r.Stages)
			target, stage = fmt.Sprintf("%s %s", r.TargetVersion, r.Status), fmt.Sprintf("%d %%", r.StagedPercent)
			installed, bad = count(sum.Installed), count(sum.Failed+sum.Reverted)
		}
		rows = append(rows, terminal.Cells(release.Pair(channel.EdgeType, channel.Channel), terminal.OrDash(channel.CurrentVersion),
			count(channel.Boxes), target, stage, installed, bad))
	}
	if left := len(o.Channels) - len(shown) + o.MoreChannels; left > 0 {
		c.Note("wavegate: %s more", count(left))
	}
	return c.Table(rows...)
}

// ownStatusOf shows one of the organization's channels, and what its last rollout does with the organization's boxes.
func ownStatusOf(ctx context.Context, c *run.Call, o own, name string) error {
	channel, err := o.on(name)
	if err != nil {
		return err
	}
	var document json.RawMessage
	if channel.Rollout != nil {
		r, answer, err := api.Get[census.OwnRollout](ctx, c, api.Path("/api/organizations/%s/rollouts/%s", o.OrganizationID, channel.Rollout.ID), nil)
		if err != nil {
			return err
		}
		channel.Rollout, document = &r, answer.Body
	}
	if c.JSON {
		return c.ShowDocument(struct {
			Channel census.OwnChannel `json:"channel"`
			Rollout json.RawMessage   `json:"rollout,omitempty"`
		}{channel, document})
	}
	c.Tell("%s  %s  %s of %s: %s", name, terminal.OrDash(channel.CurrentVersion), count(channel.Boxes)+terminal.Noun(channel.Boxes, " box", " boxes"), o.OrganizationID, ran(channel))
	r := channel.Rollout
	if r == nil {
		c.Say("there has never been a rollout")
		return nil
	}
	c.Tell("%s", r.Sentence)
	if r.Action != "" {
		c.Say("the guard: %s, %s", r.Action, r.Reason)
	}
	if sum := census.Total(r.Stages); sum.Failed+sum.Reverted > 0 {
		c.Say("look at the boxes    wavegate boxes %s --state failed", name)
	}
	return nil
}

// ran says what the boxes of a channel run.
func ran(channel census.OwnChannel) string {
	var parts []string
	for _, v := range channel.Versions {
		parts = append(parts, fmt.Sprintf("%s run %s", count(v.Boxes), v.Version))
	}
	if n := channel.OtherVersions; n > 0 {
		parts = append(parts, count(n)+" run others")
	}
	if n := channel.Unknown; n > 0 {
		parts = append(parts, count(n)+" never said")
	}
	return terminal.Printable(strings.Join(parts, ", "))
}

// waitingSentence says how many boxes wait for plants, and until when.
func waitingSentence(w census.AtPlants) string {
	text := fmt.Sprintf("%s in %d closed plants: %s for a window, %s for the end of a pause",
		count(w.Window+w.Pause+w.OptedOut), w.Plants, count(w.Window), count(w.Pause))
	if w.OptedOut > 0 {
		text += fmt.Sprintf(", %s opted out", count(w.OptedOut))
	}
	if w.Overdue > 0 {
		text += fmt.Sprintf("; %s past the deadline", count(w.Overdue))
	}
	if w.OpensAt != nil {
		text += "; the next one opens " + clock(*w.OpensAt)
	}
	return text
}
