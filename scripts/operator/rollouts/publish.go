package rollouts

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/artifacts"
	"wavegate/scripts/operator/components"
	"wavegate/scripts/operator/run"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
)

func publish(r *run.Run) *cobra.Command {
	var why reasons
	var said artifact
	cmd := &cobra.Command{
		Use: "publish CHANNEL VERSION", Short: "Publish a version to all boxes of a channel",
		Long: "Publishes a version on a channel. It reaches every box of the channel at its next poll, and ends a rollout that is " +
			"active there. Publish a new version on a channel with few boxes first, then roll it out on the others: wavegate start.\n\n" +
			"With --file, the command uploads the file to the service's store, unless it is there, and publishes it. If you keep files " +
			"elsewhere, add --url: then it only computes size, SHA-256, SHA-1 and MD5 (boxes with a client for hawkBit's DDI need them), " +
			"and asks the URL once.\n\n" +
			"Without either, it publishes a version that was published before, as the service knows it. So you can bring back the " +
			"version before.",
		Example: "wavegate publish gateway-x/canary 1.1.0 --file 1.1.0.tar.gz\n" +
			"wavegate publish gateway-x/stable 1.0.0\n" +
			"wavegate publish gateway-x/canary 1.1.0 --file 1.1.0.tar.gz \\\n" +
			"    --url https://artifacts.example.com/gateway-x/1.1.0.tar.gz --verify",
	}
	said.flags(cmd)
	why.flags(cmd, true)
	why.hurries(cmd)
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		return said.publish(ctx, c, why)
	})
}

// publish publishes what a person said, once the person has confirmed it.
func (a *artifact) publish(ctx context.Context, c *run.Call, why reasons) error {
	name, version := c.Args[0], c.Args[1]
	body, err := a.publication(version)
	if err != nil {
		return err
	}
	body = why.with(body)
	edgeType, _, _ := api.ChannelName(name)
	uploads, err := a.uploads(ctx, c, edgeType, body)
	if err != nil {
		return err
	}
	if c.Confirm != name { // somebody will be asked; otherwise the service reports it
		if err := passes(ctx, c, name, version, body); err != nil {
			return err
		}
	}
	if err := a.look(ctx, c, body); err != nil {
		return err
	}
	question, tag, err := reach(ctx, c, name, version)
	if err != nil {
		return err
	}
	if a.requires != "" {
		question += fmt.Sprintf(" Boxes below %s are told that one first.", a.requires)
	}
	if why.urgent {
		question += " It is urgent: it does not wait for plants."
	}
	if tag == "" {
		defer c.ForgetNames() // there is a new one
	}
	if len(uploads) > 0 { // once it is confirmed
		if err := c.AskName(name, question); err != nil {
			return err
		}
		question = ""
	}
	for _, file := range uploads {
		if err := artifacts.Keep(ctx, c, edgeType, file); err != nil {
			return err
		}
	}
	step := publication(name, question, body, tag, version+" is published on "+name)
	if a.sbom != "" {
		step.Adds = func(api.Response) (string, error) { return a.bill.Send(ctx, c, edgeType, version) }
	}
	return c.Take(ctx, step)
}

// uploads lists the files to upload. With an SBOM, the publication has it among the documents.
func (a *artifact) uploads(ctx context.Context, c *run.Call, edgeType string, body map[string]any) (files []artifacts.File, err error) {
	if a.sends() {
		files = append(files, a.read)
	}
	if a.sbom != "" {
		if a.bill, err = components.Read(a.sbom); err == nil {
			body["documents"], err = a.bill.Documents(ctx, c, edgeType, fmt.Sprint(body["currentVersion"]))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, a.bill.File)
	}
	for _, file := range files {
		if err := file.Acceptable(edgeType); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// publication is the step that publishes a version on a channel.
func publication(name, question string, body map[string]any, tag, done string) run.Step {
	path := api.ChannelPath(name)
	return run.Step{
		Question: question, Name: name, Done: done, Shown: path,
		Request: api.Request{Method: http.MethodPut, Path: path, Body: body, IfMatch: tag},
	}
}

// passes checks, before anybody is asked, whether a publication would be refused: for its fields, for a freeze, or
// because a channel of its type has the version with other bytes. Only the service knows versions that no channel has
// now.
func passes(ctx context.Context, c *run.Call, name, version string, body map[string]any) error {
	if err := run.Acceptable(http.MethodPut, api.ChannelPath(name), body); err != nil {
		return err
	}
	if body["overrideReason"] == nil {
		if err := thawed(ctx, c); err != nil {
			return err
		}
	}
	edgeType, _, _ := api.ChannelName(name)
	channels, err := api.All[release.View](ctx, c.Client, "/api/ota/release-channels", run.Query("edgeType", edgeType), 0)
	for _, one := range channels {
		if body["sha256"] != nil && one.CurrentVersion == version && !strings.EqualFold(one.SHA256, fmt.Sprint(body["sha256"])) {
			return run.Fail(run.Refused, "version %s is on %s/%s with other bytes (SHA-256 %s); a version never changes its bytes. Publish the new bytes as a new version",
				version, edgeType, one.Channel.Channel, one.SHA256)
		}
	}
	return err
}

// reach returns a question that says what a publication does, and the entity tag of the channel that was read; empty
// if the channel is new.
func reach(ctx context.Context, c *run.Call, name, version string) (question, tag string, err error) {
	channel, answer, err := api.Get[release.View](ctx, c, api.ChannelPath(name), nil)
	if run.Missing(err) {
		question = fmt.Sprintf("%s: publish %s on a new channel", name, version)
		return question + c.Near(ctx, "CHANNEL", []string{name}) + ".", "", nil
	}
	if err != nil {
		return "", "", err
	}
	counted, _, err := api.Get[census.ChannelVersions](ctx, c, api.ChannelPath(name)+"/progress", nil)
	if err != nil {
		return "", "", err
	}
	question = fmt.Sprintf("%s: publish %s instead of %s to all %d boxes immediately.", name, version, channel.CurrentVersion, counted.Boxes)
	if version == channel.CurrentVersion {
		question = fmt.Sprintf("%s: publish %s, which is already the channel's version, again to all %d boxes. Boxes that run the version of a rollout go back to it.",
			name, version, counted.Boxes)
	}
	if earlier(version, channel.CurrentVersion) {
		question += " It is an earlier version."
	}
	if r := channel.ActiveRollout; r != nil {
		question += fmt.Sprintf(" It ends the rollout of %s, which is at %d %%.", r.TargetVersion, r.StagedPercent)
	}
	return question, answer.Header.Get("ETag"), nil
}

// An artifact is a person's description of a version's bytes.
type artifact struct {
	url, httpURL, part, digest, file, kind, requires, deadline, sbom string
	withoutToken, verify                                             bool
	order                                                            int64
	read                                                             artifacts.File
	documents                                                        []string
	bill                                                             components.Bill
}

func (a *artifact) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.url, "url", "", "where the boxes find the version, an https URL; without it, the service keeps the bytes")
	cmd.Flags().StringVar(&a.digest, "sha256", "", "the SHA-256 of its bytes, in hexadecimal, instead of --file: of an uploaded file, or of what is at the URL")
	cmd.Flags().StringVar(&a.file, "file", "", "the version's bytes. They are uploaded; with --url, only their size and digests are sent")
	cmd.Flags().StringVar(&a.httpURL, "http-url", "", "another address of the bytes, for DDI clients that only follow the link download-http")
	cmd.Flags().StringVar(&a.part, "part", "", "the kind of the release that DDI clients are told; os by default")
	cmd.Flags().StringVar(&a.kind, "kind", "", "regular or security; a security release soaks for a day instead of a week by default")
	cmd.Flags().StringVar(&a.deadline, "deadline", "", "how long pauses of plants may keep it waiting, such as P7D; P30D for a security release by default")
	cmd.Flags().Int64Var(&a.order, "order", 0, "its place among the releases; for a fix of an old line: one more than that of its line's last release")
	cmd.Flags().StringVar(&a.requires, "requires", "", "a published `version` that boxes which run an older one are told first, as a stepping stone")
	cmd.Flags().BoolVar(&a.withoutToken, "download-without-token", false, "the host of the bytes needs no token")
	cmd.Flags().StringArrayVar(&a.documents, "document", nil, "evidence for people, which boxes never read: `KIND=WHERE`, with sbom, notes or provenance, and an https URL or the SHA-256 of an uploaded file; may be repeated")
	cmd.Flags().BoolVar(&a.verify, "verify", false, "download what is at the URL, and compare its SHA-256")
	cmd.Flags().StringVar(&a.sbom, "sbom", "", "a `file` that lists the version's components: CycloneDX or SPDX; see wavegate releases describe")
	cmd.MarkFlagsMutuallyExclusive("sha256", "file")
	cmd.MarkFlagsMutuallyExclusive("sbom", "document")
}

// publication returns the request body that publishes the version.
func (a *artifact) publication(version string) (map[string]any, error) {
	body := map[string]any{"currentVersion": version}
	for name, value := range map[string]string{"sha256": a.digest, "artifactUrl": a.url, "artifactHttpUrl": a.httpURL, "part": a.part, "kind": a.kind, "requires": a.requires, "deadline": a.deadline} {
		if value != "" {
			body[name] = value
		}
	}
	if a.withoutToken {
		body["downloadWithoutToken"] = true
	}
	if a.order != 0 {
		body["order"] = a.order
	}
	if all := artifacts.Documents(a.documents); all != nil {
		body["documents"] = all
	}
	if a.file == "" {
		return body, nil
	}
	var err error
	if a.read, err = artifacts.Read(a.file); err != nil {
		return nil, err
	}
	if a.url == "" {
		body["sha256"] = a.read.SHA256 // the service knows the rest
	} else {
		a.read.Describe(body)
	}
	return body, nil
}

// sends reports whether the file is sent to the service's store.
func (a *artifact) sends() bool { return a.file != "" && a.url == "" }

// look asks the URL, before boxes do.
func (a *artifact) look(ctx context.Context, c *run.Call, body map[string]any) error {
	if a.url == "" {
		return nil
	}
	if a.verify {
		return artifacts.Verify(ctx, c.Run, a.url, fmt.Sprint(body["sha256"]))
	}
	artifacts.Look(ctx, c.Run, a.url, a.read.Size)
	return nil
}

// dotted matches versions that consist of numbers.
var dotted = regexp.MustCompile(`^v?[0-9]{1,9}(\.[0-9]{1,9}){0,3}$`)

// earlier reports whether one version comes before another, if both consist of numbers. Other versions have no known
// order; the service accepts any.
func earlier(a, b string) bool {
	if !dotted.MatchString(a) || !dotted.MatchString(b) {
		return false
	}
	return slices.CompareFunc(numbers(a), numbers(b), cmp.Compare) < 0
}

func numbers(version string) []int {
	list := make([]int, 4)
	for i, part := range strings.Split(strings.TrimPrefix(version, "v"), ".") {
		list[i], _ = strconv.Atoi(part) // it consists of digits
	}
	return list
}

// publishedSince reports whether a version was published on the channel after the rollout ended, which sent its boxes
// back.
func publishedSince(channel release.View, r rollout.Rollout) bool {
	return r.EndedAt != nil && channel.UpdatedAt.After(*r.EndedAt)
}
