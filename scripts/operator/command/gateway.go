package command

import (
	"context"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

func (a *app) gatewayToken() *cobra.Command {
	return group("gateway-token", "Give the gateway of an organization a token, or end it", a.gatewayTokenSet(), a.gatewayTokenDelete())
}

func gatewayPath(organization string) string {
	return "/api/organizations/" + url.PathEscape(organization) + "/gateway-token"
}

func (a *app) gatewayTokenSet() *cobra.Command {
	const use = "set ORGANIZATION"
	var hash string
	cmd := &cobra.Command{
		Use: use + " --sha256 HASH", Short: "Give the gateway of an organization a token, by its SHA-256", Args: exactly(use),
		Long: "Gives the gateway of an organization a token. Only the SHA-256 of the token is sent. The previous token stays valid\n" +
			"until 24 hours after the first call with the new one. A gateway calls for all boxes of its organization that have no\n" +
			"token of their own. shared/access/README.md says how to make a token.",
		Example: "  wavegate gateway-token set acme --sha256 6deff27d5384b3f21add1fe9e186d2a5da492550f98c62f83f3ec47fc2347145",
		RunE: a.run(func(ctx context.Context, args []string) error {
			body := map[string]any{"tokenSha256": hash}
			if err := acceptable(http.MethodPut, gatewayPath(args[0]), body); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.ask("Give the gateway of " + args[0] + " the token with the SHA-256 " + hash + "?"); err != nil {
				return err
			}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodPut, Path: gatewayPath(args[0]), Body: body}); err != nil {
				return err
			}
			a.say("the gateway of %s has the token", args[0])
			return nil
		}),
	}
	cmd.Flags().StringVar(&hash, "sha256", "", "the SHA-256 of the token, in hexadecimal")
	_ = cmd.MarkFlagRequired("sha256") // it was declared
	return cmd
}

func (a *app) gatewayTokenDelete() *cobra.Command {
	const use = "delete ORGANIZATION"
	return &cobra.Command{
		Use: use, Short: "End all tokens of the gateway of an organization immediately", Args: exactly(use),
		Example: "  wavegate gateway-token delete acme",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := a.askName(args[0], "End all tokens of the gateway of "+args[0]+"? Its boxes without a token of their own can no longer poll."); err != nil {
				return err
			}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodDelete, Path: gatewayPath(args[0])}); err != nil {
				return err
			}
			a.say("the tokens of the gateway of %s have ended", args[0])
			return nil
		}),
	}
}
