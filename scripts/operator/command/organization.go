package command

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"
)

func (a *app) export() *cobra.Command {
	const use = "export ORGANIZATION"
	return &cobra.Command{
		Use: use, Short: "Write everything that the service holds about an organization", Args: exactly(use),
		Long: "Writes everything that the service holds about an organization to standard output, as JSON Lines: objects with a kind\n" +
			"and a value. If the command ends with an error, the output is incomplete.",
		Example: "  wavegate export acme > acme.jsonl",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			lines := 0
			path := "/api/organizations/" + url.PathEscape(args[0]) + "/export"
			err = c.Lines(ctx, path, func(page []byte, n int) error {
				lines += n
				_, err := a.Out.Write(page)
				return err
			})
			if err == nil {
				a.note("wavegate: %d lines", lines)
			}
			return err
		}),
	}
}
