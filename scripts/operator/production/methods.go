package production

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/platform/input"
	"wavegate/shared/production/chain"
	"wavegate/shared/production/method"
)

func methods(r *run.Run) *cobra.Command {
	cmd := run.Group("methods", "See, write and move the versions of production methods",
		list(r), create(r), show(r), versions(r), contents(r), save(r), diff(r), machinesOf(r), confirm(r), rename(r), retire(r), reopen(r), audited(r), exported(r))
	cmd.AddCommand(moves(r)...)
	cmd.Aliases = []string{"method"}
	return cmd
}

// anyMethod is a method's id for the examples, and ofMethod an example's factory and method.
const (
	anyMethod = "0192f0c1-7f10-7c1d-8a4e-2b3c4d5e6f70"
	ofMethod  = " munich-1 " + anyMethod
)

func list(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list FACTORY", Short: "List the methods of a factory",
		Example: "wavegate methods list munich-1\nwavegate methods list munich-1 --status in_review",
	}
	product := cmd.Flags().String("product", "", "only those of this `product`")
	status := cmd.Flags().String("status", "", "only those with the latest version in this `status`: draft, in_review, trial, released or withdrawn")
	return run.Lists(r, cmd, 1000, func(_ context.Context, c *run.Call) (run.List[method.Made], error) {
		return run.List[method.Made]{
			Path: c.Path(factoryPath + "/production-methods"), Query: run.Query("productId", *product, "status", *status),
			None: c.Args[0] + " has no such method", Head: "METHOD|NAME|PRODUCT|LATEST",
			Row: func(m method.Made) []any {
				latest := "-"
				if m.Latest != nil {
					latest = fmt.Sprintf("%d %s", m.Latest.Version, m.Latest.Status)
				}
				product := "not named"
				if m.Product != nil {
					product = m.Product.Name
				}
				return []any{m.MethodID, m.Name, product, latest}
			},
		}, nil
	})
}

func versions(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "versions FACTORY METHOD", Short: "List the versions of a method, the newest first", Example: "wavegate methods versions" + ofMethod,
	}
	return run.Lists(r, cmd, 1000, func(_ context.Context, c *run.Call) (run.List[method.Shown], error) {
		return run.List[method.Shown]{
			Path: c.Path(methodPath + "/versions"), None: "the method has no version yet; save one: wavegate methods save",
			Head: "VERSION|STATE", Row: func(v method.Shown) []any {
				return []any{v.Version.Version, strings.TrimSpace(stateOf(v) + " " + string(v.Orders))}
			},
		}, nil
	})
}

func stateOf(v method.Shown) string {
	return strings.TrimSpace(fmt.Sprint(v.Status, " ", v.Standing))
}

func show(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "show FACTORY METHOD [VERSION]", Short: "Show a method, or one of its versions with its signatures",
		Example: "wavegate methods show" + ofMethod + "\nwavegate methods show" + ofMethod + " 3",
	}, func(ctx context.Context, c *run.Call) error {
		path := methodPath
		if len(c.Args) == 3 {
			path = versionPath
		}
		return c.Read(ctx, c.Path(path), nil)
	})
}

func contents(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "content FACTORY METHOD VERSION", Short: "Print the content of a version, as JSON",
		Example: "wavegate methods content" + ofMethod + " 3 >pressing.json",
	}, func(ctx context.Context, c *run.Call) error {
		answer, err := c.Get(ctx, c.Path(versionPath+"/content"))
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(json.RawMessage(answer.Body), "", "  ") // for people to edit
		if err != nil {
			text = answer.Body
		}
		c.Show(text)
		return nil
	})
}

func create(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create FACTORY --product PRODUCT --name NAME", Short: "Create a method for a product; it has no version yet",
		Example: "wavegate methods create munich-1 --name Pressing \\\n    --product 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11",
	}
	product := cmd.Flags().String("product", "", "the `product` that it makes, a UUID")
	name := cmd.Flags().String("name", "", "the `name` to display")
	run.Required(cmd, "product", "name")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		body := map[string]any{"productId": *product, "name": *name}
		list := api.Path(factoryPath+"/production-methods", c.Args...)
		if err := run.Acceptable(http.MethodPost, list, body); err != nil {
			return err
		}
		if _, err := c.Get(ctx, c.Path(factoryPath)); err != nil {
			return err
		}
		if err := c.Ask("Create the method " + *name + " in " + c.Args[0] + ", for product " + *product + "?"); err != nil {
			return err
		}
		answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: list, Body: body, Key: uuid.NewString()})
		if err != nil {
			return err
		}
		id := path.Base(answer.Header.Get("Location"))
		return c.Done(ctx, list+"/"+id, "method %s is created; save its first version: wavegate methods save %s %s 1 FILE", id, c.Args[0], id)
	})
}

func save(r *run.Run) *cobra.Command {
	return r.Sets(&cobra.Command{
		Use: "save FACTORY METHOD VERSION FILE", Short: "Save the content of a draft, or of a new version",
		Long: "Saves the content of a version from a file, as a draft. A new version has the number after the latest one. It shows what " +
			"changes, and asks. Only a draft can be saved again: return a version that is in review first.",
		Example: "wavegate methods content" + ofMethod + " 3 >pressing.json\nwavegate methods save" + ofMethod + " 4 pressing.json",
	}, func(args []string) (run.Change, error) {
		text, err := documentIn(args[3])
		if err != nil {
			return run.Change{}, err
		}
		wish := map[string]any{}
		for _, m := range input.Members(text) {
			wish[m.Name] = m.Value
		}
		return run.Change{What: "version " + args[2] + " of method " + args[1], Path: api.Path(versionPath+"/content", args...),
			In: api.Path(methodPath, args...), Wish: wish, Whole: true}, nil
	})
}

// documentIn reads a file with one JSON object.
func documentIn(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, run.Fail(run.Misused, "%w", err)
	}
	if err := input.CheckJSON(text); err != nil {
		return nil, run.Fail(run.Misused, "%s %w", name, err)
	}
	if kind := input.KindOf(text); kind != input.ObjectKind {
		return nil, run.Fail(run.Misused, "%s must be an object, not %s", name, kind)
	}
	return text, nil
}

func diff(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff FACTORY METHOD VERSION", Short: "List what changed since the version before",
		Example: "wavegate methods diff" + ofMethod + " 3\nwavegate methods diff" + ofMethod + " 3 --since 1",
	}
	since := cmd.Flags().String("since", "", "compare with this `version`")
	return r.Calls(cmd, func(ctx context.Context, c *run.Call) error {
		list, answer, err := api.Get[method.Comparison](ctx, c, c.Path(versionPath+"/changes"), run.Query("since", *since))
		if err != nil {
			return err
		}
		return c.Either(answer, func() error {
			if len(list.Changes) == 0 {
				c.Note("wavegate: no differences")
				return nil
			}
			rows := []string{"CHANGE\tPLACE\tFROM\tTO\tCRITICAL"}
			for _, x := range list.Changes {
				rows = append(rows, terminal.Cells(x.Op, x.Path, brief(x.From), brief(x.To), x.Critical))
			}
			return c.Table(rows...)
		})
	})
}

func brief(v any) string {
	if v == nil {
		return "-"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "-"
	}
	return terminal.Printable(string(text))
}

func audited(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "verify FACTORY METHOD [KEPT]...", Short: "Compare a method with the audit trail", Example: "wavegate methods verify" + ofMethod,
		Long: "Compares the method, its versions, contents and the factory's machines with the audit trail. KEPT is what a machine has " +
			"kept: HASH, or HASH:VERSION:CONTENT. It needs the role of an organization admin or a platform owner.",
	}, func(ctx context.Context, c *run.Call) error {
		var kept []chain.Kept
		for _, text := range c.Args[2:] {
			k, err := verify.Parse(text)
			if err != nil {
				return run.Fail(run.Misused, "%w", err)
			}
			kept = append(kept, k)
		}
		report, err := verify.Method(ctx, c.Body, c.Args[0], strings.ToLower(c.Args[1]), kept)
		if err != nil {
			return err
		}
		for _, l := range report.Links {
			c.Say("%s %s %s", l.EventTime.UTC().Format(time.RFC3339), l.EventName, l.SHA256)
		}
		if len(report.Unseen) > 0 {
			c.Note("wavegate: this was not compared, because you may not read it, or an earlier release of the service answers:\n%s",
				strings.Join(report.Unseen, "\n"))
		}
		if len(report.Findings) > 0 {
			return run.Fail(run.Refused, "%s", strings.Join(report.Findings, "\n"))
		}
		c.Say("everything matches the trail; links: %d, kept by machines and found: %d", len(report.Links), len(kept))
		return nil
	})
}

func exported(r *run.Run) *cobra.Command {
	return r.Calls(&cobra.Command{
		Use: "export FACTORY METHOD VERSION FILE", Short: "Write a readable copy of a version",
		Example: "wavegate methods export" + ofMethod + " 3 version-3.json",
		Long:    "Writes the version with its signatures, its content and its audit events into a file that must not exist yet.",
	}, func(ctx context.Context, c *run.Call) error {
		copied := map[string]any{}
		for name, path := range map[string]string{"version": c.Path(versionPath), "content": c.Path(versionPath + "/content")} {
			text, err := c.Body(ctx, path)
			if err != nil {
				return err
			}
			copied[name] = json.RawMessage(text)
		}
		query := run.Query("resourceType", "production-method-version", "resourceId", strings.ToLower(c.Args[1])+":"+c.Args[2])
		events, err := c.List(ctx, c.Path(factoryPath+"/audit-events"), query, 0)
		if err != nil {
			return err
		}
		copied["events"] = events.Items
		text, err := json.MarshalIndent(copied, "", "  ")
		if err != nil {
			return err
		}
		file, err := os.OpenFile(c.Args[3], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(append(text, '\n'))
		if err = errors.Join(err, file.Close()); err == nil {
			c.Say("version %s is written to %s", c.Args[2], c.Args[3])
		}
		return err
	})
}
