package command

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"
)

func (a *app) export() *cobra.Command {
	const use = "export ORGANIZATION"
	return &cobra.Command{
		Use: use, Short: "Write all that the service holds of an organization", Args: exactly(use),
		Long: "Writes all that the service holds of an organization to standard output, as JSON Lines: objects with a kind and a\n" +
			"value. It ends with an error if it cannot be read to its end; what was written is then a part.",
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
