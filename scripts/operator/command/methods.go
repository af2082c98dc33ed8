package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/production/chain"
)

func (a *app) methods() *cobra.Command {
	cmd := group("methods", "See, write and move the versions of production methods",
		a.methodsList(), a.methodsCreate(), a.methodsShow(), a.methodsVersions(), a.methodsContent(), a.methodsSave(), a.methodsDiff(),
		a.methodsSubmit(), a.methodsReturn(), a.methodsTrial(), a.methodsRelease(), a.methodsWithdraw(), a.methodsMachines(), a.methodsVerify(), a.methodsExport())
	cmd.Aliases = []string{"method"}
	return cmd
}

// A methodVersion has the fields of a version that the command reads.
type methodVersion struct {
	Version  int64
	Status   string
	Standing string
	Orders   string
}

func (v methodVersion) state() string {
	return strings.Join(strings.Fields(v.Status+" "+v.Standing+" "+v.Orders), " ")
}

func methodPath(factory, method string, more ...string) string {
	return "/api/factories/" + url.PathEscape(factory) + "/production-methods/" + strings.Join(append([]string{url.PathEscape(method)}, more...), "/")
}

func versionPath(args []string) string {
	return methodPath(args[0], args[1], "versions", url.PathEscape(args[2]))
}

func (a *app) methodsList() *cobra.Command {
	type method struct {
		MethodID, Name string
		Latest         *methodVersion
	}
	var product, status string
	cmd := listing(a, "list FACTORY", "List the methods of a factory", "  wavegate methods list munich-1\n  wavegate methods list munich-1 --status in_review", 1000,
		func(args []string) (list[method], error) {
			l := list[method]{path: factoryPath(args[0]) + "/production-methods", query: url.Values{}, none: args[0] + " has no such method", head: cells("METHOD", "NAME", "LATEST"),
				row: func(m method) string {
					latest := "-"
					if m.Latest != nil {
						latest = fmt.Sprintf("%d %s", m.Latest.Version, m.Latest.Status)
					}
					return cells(m.MethodID, m.Name, latest)
				}}
			for name, value := range map[string]string{"productId": product, "status": status} {
				if value != "" {
					l.query.Set(name, value)
				}
			}
			return l, nil
		})
	cmd.Flags().StringVar(&product, "product", "", "only those of this `product`")
	cmd.Flags().StringVar(&status, "status", "", "only those with the latest version in this `status`: draft, in_review, trial, released or withdrawn")
	return cmd
}

func (a *app) methodsVersions() *cobra.Command {
	cmd := listing(a, "versions FACTORY METHOD", "List the versions of a method, the newest first", "  wavegate methods versions munich-1 "+anyMethod, 1000,
		func(args []string) (list[methodVersion], error) {
			return list[methodVersion]{path: methodPath(args[0], args[1], "versions"), query: url.Values{}, none: "the method has no version yet; save one: wavegate methods save",
				head: cells("VERSION", "STATE"), row: func(v methodVersion) string { return cells(v.Version, v.state()) }}, nil
		})
	return cmd
}

// anyMethod is a method's id for the examples.
const anyMethod = "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70"

func (a *app) methodsDiff() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "diff FACTORY METHOD VERSION", Short: "List what changed since the version before", Args: cobra.ExactArgs(3),
		Example: "  wavegate methods diff munich-1 " + anyMethod + " 3\n  wavegate methods diff munich-1 " + anyMethod + " 3 --since 1",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			if since != "" {
				query.Set("since", since)
			}
			type change struct {
				Op, Path string
				From, To any
				Critical bool
			}
			list, answer, err := api.Get[struct{ Changes []change }](ctx, c, versionPath(args)+"/changes", query)
			if err != nil {
				return err
			}
			if a.json {
				a.show(answer.Body)
				return nil
			}
			if len(list.Changes) == 0 {
				a.note("wavegate: no differences")
				return nil
			}
			rows := []string{"CHANGE\tPLACE\tFROM\tTO\tCRITICAL"}
			for _, x := range list.Changes {
				rows = append(rows, strings.Join([]string{x.Op, printable(x.Path), brief(x.From), brief(x.To), fmt.Sprint(x.Critical)}, "\t"))
			}
			return a.table(rows...)
		}),
	}
	cmd.Flags().StringVar(&since, "since", "", "compare with this `version`")
	return cmd
}

func brief(v any) string {
	if v == nil {
		return "-"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "-"
	}
	return printable(string(text))
}

func (a *app) methodsMachines() *cobra.Command {
	type reached struct{ Machine, EdgeID, State, Order, Told, LastHeardAt string }
	var left bool
	cmd := listing(a, "machines FACTORY METHOD VERSION", "List the machines that have or may have a version", "  wavegate methods machines munich-1 "+anyMethod+" 3 --left", 1000,
		func(args []string) (list[reached], error) {
			l := list[reached]{path: versionPath(args) + "/machines", query: url.Values{}, none: "no machine has or may have this version",
				head: cells("MACHINE", "BOX", "STATE", "ORDER", "TOLD", "LAST HEARD OF"),
				row: func(m reached) string {
					return cells(m.Machine, orDash(m.EdgeID), orDash(m.State), orDash(m.Order), orDash(m.Told), orDash(m.LastHeardAt))
				}}
			if left {
				l.query.Set("clear", "false")
				l.none = "every machine has reported that it does not have this version"
			}
			return l, nil
		})
	cmd.Long = "Lists the machines that do a step of the version or have reported about it. After a withdrawal, --left lists the\n" +
		"machines that the recall has not reached. Somebody has to visit machines without a box."
	cmd.Flags().BoolVar(&left, "left", false, "only machines that have not reported that they do not have it")
	return cmd
}

func (a *app) methodsVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify FACTORY METHOD [KEPT]...", Short: "Compare a method with the audit trail", Args: cobra.MinimumNArgs(2),
		Example: "  wavegate methods verify munich-1 " + anyMethod,
		Long: "Compares the method, its versions, contents and the factory's machines with the audit trail. KEPT is what a machine has\n" +
			"kept: HASH, or HASH:VERSION:CONTENT. It needs the role of an organization admin or a platform owner.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			var kept []chain.Kept
			for _, text := range args[2:] {
				k, err := verify.Parse(text)
				if err != nil {
					return fail(Misused, "%w", err)
				}
				kept = append(kept, k)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			report, err := verify.Method(ctx, a.reads(c), args[0], strings.ToLower(args[1]), kept)
			if err != nil {
				return err
			}
			for _, l := range report.Links {
				a.say("%s %s %s", l.EventTime.UTC().Format(time.RFC3339), l.EventName, l.SHA256)
			}
			if len(report.Findings) > 0 {
				return fail(Refused, "%s", strings.Join(report.Findings, "\n"))
			}
			a.say("everything matches the trail; links: %d, kept by machines and found: %d", len(report.Links), len(kept))
			return nil
		}),
	}
}

// reads returns a function that reads paths of the API. A page may put a prefix, such as a deployment's, before the
// path that this client knows.
func (a *app) reads(c *api.Client) verify.Get {
	return func(ctx context.Context, path string) ([]byte, error) {
		target, err := url.Parse(path[max(strings.Index(path, "/api/"), 0):])
		if err != nil {
			return nil, err
		}
		answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: target.Path, Query: target.Query()})
		return answer.Body, err
	}
}

func (a *app) methodsExport() *cobra.Command {
	return &cobra.Command{
		Use: "export FACTORY METHOD VERSION FILE", Short: "Write a readable copy of a version", Args: cobra.ExactArgs(4),
		Example: "  wavegate methods export munich-1 " + anyMethod + " 3 version-3.json",
		Long:    "Writes the version with its signatures, its content and its audit events into a file that must not exist yet.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			copied := map[string]any{}
			for name, path := range map[string]string{"version": versionPath(args), "content": versionPath(args) + "/content"} {
				text, err := a.reads(c)(ctx, path)
				if err != nil {
					return err
				}
				copied[name] = json.RawMessage(text)
			}
			events := []json.RawMessage{}
			query := url.Values{"resourceType": {"production-method-version"}, "resourceId": {strings.ToLower(args[1]) + ":" + args[2]}, "limit": {"100"}}
			err = c.Pages(ctx, "/api/factories/"+url.PathEscape(args[0])+"/audit-events", query, func(page api.Response) (bool, error) {
				var list struct{ Items []json.RawMessage }
				err := page.Into(&list)
				events = append(events, list.Items...)
				return true, err
			})
			if err != nil {
				return err
			}
			copied["events"] = events
			text, err := json.MarshalIndent(copied, "", "  ")
			if err != nil {
				return err
			}
			file, err := os.OpenFile(args[3], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			_, err = file.Write(append(text, '\n'))
			if closed := file.Close(); err == nil {
				err = closed
			}
			if err == nil {
				a.say("version %s is written to %s", args[2], args[3])
			}
			return err
		}),
	}
}
