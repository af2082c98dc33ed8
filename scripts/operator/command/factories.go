package command

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) factories() *cobra.Command {
	cmd := group("factories", "See, register and rename factories",
		a.factoriesList(),
		a.shows("show FACTORY", "Show a factory", "  wavegate factories show munich-1", func(args []string) string { return factoryPath(args[0]) }),
		a.factoriesSet(), a.factoriesLog())
	cmd.Aliases = []string{"factory"}
	return cmd
}

func factoryPath(factory string) string { return "/api/factories/" + url.PathEscape(factory) }

func (a *app) factoriesList() *cobra.Command {
	var organization string
	cmd := listing(a, "list", "List the factories of an organization", "  wavegate factories list\n  wavegate factories list --organization acme", 1000, func([]string) (list[factory], error) {
		l := list[factory]{path: "/api/factories", query: url.Values{}, none: "your organization has no factory; for another one, use --organization",
			head: cells("FACTORY", "NAME", "ORGANIZATION"), row: func(f factory) string { return cells(f.FactoryID, f.Name, f.OrganizationID) }}
		if organization != "" {
			l.query.Set("organizationId", organization)
			l.none = "organization " + organization + " has no factory, or you are not allowed to see it"
		}
		return l, nil
	})
	cmd.Flags().StringVar(&organization, "organization", "", "the `organization`; by default, your own")
	return cmd
}

// A factory has the fields of a factory that the command reads.
type factory struct{ FactoryID, Name, OrganizationID string }

func (a *app) factoriesSet() *cobra.Command {
	const use = "set FACTORY"
	var name, organization, approval string
	cmd := &cobra.Command{
		Use: use, Short: "Register a factory, or change its name or who approves methods", Args: exactly(use),
		Long: "Registers a factory, or changes it. Omitted fields stay unchanged. A factory never changes its organization. With\n" +
			"four-eyes, a version of a method is approved by somebody who has neither saved nor submitted it.",
		Example: "  wavegate factories set munich-1 --organization acme --name 'Munich, hall 1'\n  wavegate factories set munich-1 --approval single",
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		return a.put(ctx, change{what: "factory " + args[0], path: factoryPath(args[0]), wish: given(cmd, map[string]string{"name": "name", "organization": "organizationId", "approval": "methodApproval"})})
	})
	cmd.Flags().StringVar(&name, "name", "", "the `name` to display")
	cmd.Flags().StringVar(&organization, "organization", "", "the `organization` that it belongs to; for a new factory")
	cmd.Flags().StringVar(&approval, "approval", "", "who approves methods: four-eyes or single")
	return cmd
}

// given returns the fields that a person set by options.
func given(cmd *cobra.Command, fields map[string]string) map[string]any {
	wish := map[string]any{}
	for option, name := range fields {
		if f := cmd.Flags().Lookup(option); f.Changed {
			wish[name] = f.Value.String()
		}
	}
	return wish
}

func (a *app) factoriesLog() *cobra.Command {
	cmd := listing(a, "log FACTORY", "Show who did what in a factory, newest first", "  wavegate factories log munich-1 --limit 20", 50, func(args []string) (list[api.Event], error) {
		return list[api.Event]{path: factoryPath(args[0]) + "/audit-events", query: url.Values{}, none: "nothing was changed in " + args[0], head: eventHead, row: eventRow}, nil
	})
	return cmd
}
