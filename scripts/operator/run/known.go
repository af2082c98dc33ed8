package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wavegate/scripts/operator/terminal"
)

// Known refuses a word that is not a command of a group, and names similar ones.
func Known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	more := ""
	if list := cmd.SuggestionsFor(args[0]); len(list) > 0 {
		more = "; did you mean " + strings.Join(list, " or ") + "?"
	}
	return fmt.Errorf("%q is not a command of %s%s", args[0], cmd.CommandPath(), more)
}

// KnownFlag adds the options that are similar to an unknown one, and says how a time is written.
func KnownFlag(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "duration" {
		return fmt.Errorf("--%s is how long, such as 90s, 30m or 48h, and not %q", bad.GetFlag().Name, bad.GetValue())
	}
	wrong, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, terminal.DidYouMean("--"+wrong.GetSpecifiedName(), names))
}

// Usage is the usage of a command that was used wrongly.
func Usage(cmd *cobra.Command) string {
	text := "usage: " + cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		text = "usage: " + cmd.CommandPath() + " COMMAND"
	}
	return text + "\nsee " + cmd.CommandPath() + " --help"
}
