package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: known, RunE: help}
	cmd.AddCommand(commands...)
	return cmd
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// known refuses a word that is not a command of a group, and names similar ones.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, one := range cmd.Commands() {
		if one.IsAvailableCommand() {
			names = append(append(names, one.Name()), one.Aliases...)
			for _, other := range one.SuggestFor {
				if other == args[0] {
					return fmt.Errorf("%q is not a command of %s; did you mean %s?", other, cmd.CommandPath(), one.Name())
				}
			}
		}
	}
	return fmt.Errorf("%q is not a command of %s%s", args[0], cmd.CommandPath(), didYouMean(args[0], names))
}

// unknownFlag adds the options that are similar to an unknown one.
func unknownFlag(cmd *cobra.Command, err error) error {
	wrong, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	list := near(wrong.GetSpecifiedName(), names)
	for i := range list {
		list[i] = "--" + list[i]
	}
	return fmt.Errorf("%w%s", err, meaning(list))
}

// exactly requires one argument for each word in capitals of a command's usage, such as "show FACTORY".
func exactly(use string) cobra.PositionalArgs {
	n := 0
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(word, "-") {
			break
		}
		n++
	}
	return cobra.ExactArgs(n)
}

// usage returns the usage text for a command that was used wrongly.
func usage(cmd *cobra.Command) string {
	text := "usage: " + cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		text = "usage: " + cmd.CommandPath() + " COMMAND"
	}
	return text + "\nsee " + cmd.CommandPath() + " --help"
}
