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
	cmd := &cobra.Command{
		Use: "methods", Short: "See and move the versions of production methods",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.methodsList(), a.methodsShow(), a.methodsDiff(), a.methodsSubmit(), a.methodsReturn(), a.methodsTrial(), a.methodsRelease(),
		a.methodsWithdraw(), a.methodsMachines(), a.methodsVerify(), a.methodsExport())
	return cmd
}

// A version of a method, as the command reads it.
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

// items reads all pages of a list, and hands over each item.
func items[T any](ctx context.Context, a *app, c *api.Client, path string, query url.Values, each func(T) error) error {
	return c.Pages(ctx, path, query, func(page api.Response) (bool, error) {
		if a.json {
			a.show(page.Body)
			return true, nil
		}
		var list struct{ Items []T }
		if err := page.Into(&list); err != nil {
			return false, err
		}
		for _, one := range list.Items {
			if err := each(one); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func (a *app) methodsList() *cobra.Command {
	return &cobra.Command{
		Use: "list FACTORY", Short: "List the methods of a factory", Args: cobra.ExactArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			rows := []string{"METHOD\tNAME\tLATEST"}
			type method struct {
				MethodID, Name string
				Latest         *methodVersion
			}
			err = items(ctx, a, c, "/api/factories/"+url.PathEscape(args[0])+"/production-methods", url.Values{"limit": {"100"}}, func(m method) error {
				latest := "-"
				if m.Latest != nil {
					latest = fmt.Sprintf("%d %s", m.Latest.Version, m.Latest.Status)
				}
				rows = append(rows, m.MethodID+"\t"+printable(m.Name)+"\t"+latest)
				return nil
			})
			return a.tableUnlessJSON(rows, err)
		}),
	}
}

func (a *app) tableUnlessJSON(rows []string, err error) error {
	if err != nil || a.json {
		return err
	}
	return a.table(rows...)
}

func (a *app) methodsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FACTORY METHOD", Short: "List the versions of a method, the newest first", Args: cobra.ExactArgs(2),
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			rows := []string{"VERSION\tSTATE"}
			err = items(ctx, a, c, methodPath(args[0], args[1], "versions"), url.Values{"limit": {"100"}}, func(v methodVersion) error {
				rows = append(rows, fmt.Sprintf("%d\t%s", v.Version, v.state()))
				return nil
			})
			return a.tableUnlessJSON(rows, err)
		}),
	}
}

func (a *app) methodsDiff() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "diff FACTORY METHOD VERSION", Short: "List what changed since the version before", Args: cobra.ExactArgs(3),
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
			if a.json && err == nil {
				a.show(answer.Body)
				return nil
			}
			rows := []string{"CHANGE\tPLACE\tFROM\tTO\tCRITICAL"}
			for _, x := range list.Changes {
				rows = append(rows, strings.Join([]string{x.Op, printable(x.Path), brief(x.From), brief(x.To), fmt.Sprint(x.Critical)}, "\t"))
			}
			return a.tableUnlessJSON(rows, err)
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
	var left bool
	cmd := &cobra.Command{
		Use: "machines FACTORY METHOD VERSION", Short: "List the machines that have a version, or may", Args: cobra.ExactArgs(3),
		Long: "Lists the machines that do a step of the version or have said something about it. After a withdrawal, the list with\n" +
			"--left is what is left of the recall. To a machine without a box, somebody has to go.",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			query := url.Values{"limit": {"100"}}
			if left {
				query.Set("clear", "false")
			}
			rows := []string{"MACHINE\tBOX\tSTATE\tORDER\tTOLD\tLAST HEARD OF"}
			type reached struct{ Machine, EdgeID, State, Order, Told, LastHeardAt string }
			err = items(ctx, a, c, versionPath(args)+"/machines", query, func(m reached) error {
				cells := []string{m.Machine, m.EdgeID, m.State, printable(m.Order), m.Told, m.LastHeardAt}
				for i := range cells {
					if cells[i] == "" {
						cells[i] = "-"
					}
				}
				rows = append(rows, strings.Join(cells, "\t"))
				return nil
			})
			return a.tableUnlessJSON(rows, err)
		}),
	}
	cmd.Flags().BoolVar(&left, "left", false, "only machines that have not said that they do not have it")
	return cmd
}

func (a *app) methodsVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify FACTORY METHOD [KEPT]...", Short: "Compare a method with the audit trail", Args: cobra.MinimumNArgs(2),
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
			a.say("all is as the trail says; links: %d, kept by machines and found: %d", len(report.Links), len(kept))
			return nil
		}),
	}
}

// reads reads paths of the API. A page names a path as this client knows it, behind a prefix such as
// a stage.
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
		Long: "Writes the version with its signatures, its content and its audit events into a file that must not exist.",
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
