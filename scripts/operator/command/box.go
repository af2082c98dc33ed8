package command

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) box() *cobra.Command {
	return group("box", "See a box, register it, or move it",
		a.shows("show BOX", "Show a box", "  wavegate box show box-0017", func(args []string) string { return api.EdgePath(args[0]) }),
		a.boxSet(), a.boxManifest())
}

func (a *app) boxSet() *cobra.Command {
	const use = "set BOX"
	var channel, organization, factory, issuer string
	cmd := &cobra.Command{
		Use: use, Short: "Register a box, or move it to another channel, organization or factory", Args: exactly(use),
		Long: "Registers a box, or changes it. Omitted fields stay unchanged. A box that moves is told the version of its new channel\n" +
			"at its next poll. To register many boxes from a file, use wavegate register.",
		Example: "  wavegate box set box-0017 --channel gateway-x/stable --organization acme --factory munich-1\n  wavegate box set box-0017 --channel gateway-x/canary",
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		wish := given(cmd, map[string]string{"organization": "organizationId", "factory": "factoryId", "issuer": "issuer"})
		for _, name := range []string{"factoryId", "issuer"} {
			if wish[name] == "" {
				wish[name] = nil
			}
		}
		if channel != "" {
			if _, err := channelArg([]string{channel}); err != nil {
				return err
			}
			wish["edgeType"], wish["channel"], _ = api.ChannelName(channel)
		}
		return a.put(ctx, change{what: "box " + args[0], path: api.EdgePath(args[0]), wish: wish})
	})
	f := cmd.Flags()
	f.StringVar(&channel, "channel", "", "the `channel` that it follows, such as gateway-x/stable")
	f.StringVar(&organization, "organization", "", "the `organization` that it belongs to")
	f.StringVar(&factory, "factory", "", "the `factory` where it is installed; '' for none")
	f.StringVar(&issuer, "issuer", "", "the `issuer` of its tokens; '' for the service's own")
	return cmd
}

func (a *app) boxManifest() *cobra.Command {
	const use = "manifest BOX"
	var installed string
	cmd := &cobra.Command{
		Use: use, Short: "Show what a box would be told if it polled now", Args: exactly(use),
		Long:    "Shows what a box would be told if it polled now, without recording a poll. wavegate why explains the reason.",
		Example: "  wavegate box manifest box-0017 --installed 1.0.0",
		RunE: a.run(func(ctx context.Context, args []string) error {
			query := url.Values{}
			if installed != "" {
				query.Set("installed", installed)
			}
			return a.read(ctx, api.EdgePath(args[0])+"/update/manifest", query)
		}),
	}
	cmd.Flags().StringVar(&installed, "installed", "", "the `version` that it would report as installed")
	return cmd
}
