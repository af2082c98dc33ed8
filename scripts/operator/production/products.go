package production

import (
	"context"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/terminal"
	"wavegate/shared/production/product"
)

const anyProduct = " munich-1 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11"

func products(r *run.Run) *cobra.Command {
	cmd := run.Group("products", "See and name the products that methods make",
		run.Lists(r, &cobra.Command{
			Use: "list FACTORY", Short: "List the products of a factory that have a name", Example: "wavegate products list munich-1",
		}, 1000, func(_ context.Context, c *run.Call) (run.List[product.Product], error) {
			return run.List[product.Product]{
				Path: c.Path(factoryPath + "/products"), None: "no product of " + c.Args[0] + " has a name", Head: "PRODUCT|NAME|NUMBER|REVISION|STATUS",
				Row: func(p product.Product) []any {
					return []any{p.ProductID, p.Name, terminal.OrDash(p.Number), terminal.OrDash(p.ProductRevision), p.Status}
				},
			}, nil
		}),
		r.Shows(&cobra.Command{Use: "show FACTORY PRODUCT", Short: "Show a product that has a name", Example: "wavegate products show" + anyProduct}, productPath),
		productsSet(r))
	cmd.Aliases = []string{"product"}
	return cmd
}

func productsSet(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set FACTORY PRODUCT", Short: "Name a product, or change its name, number, revision or status",
		Long:    "Names a product by its id, a UUID. Omitted fields stay unchanged. Methods show the name; they take any id, named or not.",
		Example: "wavegate products set" + anyProduct + " \\\n    --name 'Housing, left' --number 4711-03 --revision B\nwavegate products set" + anyProduct + " --status retired",
	}
	cmd.Flags().String("name", "", "the `name` to display")
	cmd.Flags().String("number", "", "its `number`, such as that of its drawing; '' for none")
	cmd.Flags().String("revision", "", "the `revision` of its design; '' for none")
	cmd.Flags().String("status", "", "active or retired")
	return r.Sets(cmd, func(args []string) (run.Change, error) {
		wish := run.Given(cmd, map[string]string{"name": "name", "number": "number", "revision": "productRevision", "status": "status"})
		for _, name := range []string{"number", "productRevision"} {
			if wish[name] == "" {
				wish[name] = nil
			}
		}
		return run.Change{What: "product " + args[1] + " of " + args[0], Path: api.Path(productPath, args...), In: api.Path(factoryPath, args...), Wish: wish}, nil
	})
}
