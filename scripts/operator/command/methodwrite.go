package command

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/shared/platform/input"
)

func (a *app) methodsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FACTORY METHOD [VERSION]", Short: "Show a method, or one of its versions with its signatures", Args: cobra.RangeArgs(2, 3),
		Example: "  wavegate methods show munich-1 " + anyMethod + "\n  wavegate methods show munich-1 " + anyMethod + " 3",
		RunE: a.run(func(ctx context.Context, args []string) error {
			if len(args) == 3 {
				return a.read(ctx, versionPath(args), nil)
			}
			return a.read(ctx, methodPath(args[0], args[1]), nil)
		}),
	}
}

func (a *app) methodsContent() *cobra.Command {
	const use = "content FACTORY METHOD VERSION"
	return &cobra.Command{
		Use: use, Short: "Print the content of a version, as JSON", Args: exactly(use),
		Example: "  wavegate methods content munich-1 " + anyMethod + " 3 >pressing.json",
		RunE: a.run(func(ctx context.Context, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: versionPath(args) + "/content"})
			if err == nil {
				a.show(indented(answer.Body))
			}
			return err
		}),
	}
}

// indented formats a document for people to edit.
func indented(document []byte) []byte {
	text, err := json.MarshalIndent(json.RawMessage(document), "", "  ")
	if err != nil {
		return document
	}
	return text
}

func (a *app) methodsCreate() *cobra.Command {
	const use = "create FACTORY"
	var product, name string
	cmd := &cobra.Command{
		Use: use + " --product PRODUCT --name NAME", Short: "Create a method for a product; it has no version yet", Args: exactly(use),
		Example: "  wavegate methods create munich-1 --product 7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11 --name Pressing",
		RunE: a.run(func(ctx context.Context, args []string) error {
			body := map[string]any{"productId": product, "name": name}
			list := factoryPath(args[0]) + "/production-methods"
			if err := acceptable(http.MethodPost, list, body); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			if _, err := c.Do(ctx, api.Request{Method: http.MethodGet, Path: factoryPath(args[0])}); err != nil {
				return err
			}
			if err := a.ask("Create the method " + name + " in " + args[0] + ", for product " + product + "?"); err != nil {
				return err
			}
			answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: list, Body: body, Key: uuid.NewString()})
			if err != nil {
				return err
			}
			id := path.Base(answer.Header.Get("Location"))
			a.say("method %s is created; save its first version: wavegate methods save %s %s 1 FILE", id, args[0], id)
			return a.shown(ctx, c, list+"/"+id)
		}),
	}
	cmd.Flags().StringVar(&product, "product", "", "the `product` that it makes, a UUID")
	cmd.Flags().StringVar(&name, "name", "", "the `name` to display")
	_ = cmd.MarkFlagRequired("product") // it was declared
	_ = cmd.MarkFlagRequired("name")    // two lines above
	return cmd
}

func (a *app) methodsSave() *cobra.Command {
	const use = "save FACTORY METHOD VERSION FILE"
	return &cobra.Command{
		Use: use, Short: "Save the content of a draft, or of a new version", Args: exactly(use),
		Long: "Saves the content of a version from a file, as a draft. A new version has the number after the latest one. It shows what\n" +
			"changes, and asks. Only a draft can be saved again: return a version that is in review first.",
		Example: "  wavegate methods content munich-1 " + anyMethod + " 3 >pressing.json\n  wavegate methods save munich-1 " + anyMethod + " 4 pressing.json",
		RunE: a.run(func(ctx context.Context, args []string) error {
			text, err := documentIn(args[3])
			if err != nil {
				return err
			}
			wish := map[string]any{}
			for _, m := range input.Members(text) {
				wish[m.Name] = m.Value
			}
			return a.put(ctx, change{what: "version " + args[2] + " of method " + args[1], path: versionPath(args) + "/content",
				in: methodPath(args[0], args[1]), wish: wish, whole: true})
		}),
	}
}

// documentIn reads a file with one JSON object.
func documentIn(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fail(Misused, "%w", err)
	}
	if err := input.CheckJSON(text); err != nil {
		return nil, fail(Misused, "%s %w", name, err)
	}
	if kind := input.KindOf(text); kind != input.ObjectKind {
		return nil, fail(Misused, "%s must be an object, not %s", name, kind)
	}
	return text, nil
}
