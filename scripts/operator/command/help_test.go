package command_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wavegate/scripts/operator/command"
)

// leaves calls a function for every command that does something.
func leaves(cmd *cobra.Command, each func(*cobra.Command)) {
	for _, one := range cmd.Commands() {
		leaves(one, each)
	}
	if strings.HasPrefix(cmd.Short, "Generate the autocompletion") || cmd.Name() == "help" {
		return // cobra made these
	}
	if cmd.Runnable() && (!cmd.HasSubCommands() || cmd.HasExample()) {
		each(cmd)
	}
}

// TestHelp_EveryCommandHasAnExample_ThatCanBeTyped: its command, options and number of arguments are right.
func TestHelp_EveryCommandHasAnExample_ThatCanBeTyped(t *testing.T) {
	seen := 0
	fresh := func() *cobra.Command {
		return command.Commands(command.Environment{Terminal: command.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, Getenv: func(string) string { return "" }})
	}
	leaves(fresh(), func(cmd *cobra.Command) {
		seen++
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			words, ok := typed(line)
			if line == "" || !strings.HasPrefix(line, "  "+cmd.CommandPath()) && !strings.HasPrefix(line, "  wavegate ") || !ok {
				if line != "" {
					t.Errorf("%s: the example %q cannot be read", cmd.CommandPath(), line)
				}
				continue
			}
			found, rest, err := fresh().Find(words[1:])
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateRequiredFlags()
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err == nil {
				err = found.ValidateFlagGroups()
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
		}
		if !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: no example is of it: %q", cmd.CommandPath(), cmd.Example)
		}
	})
	var flags []string
	leaves(fresh(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	})
	for field, word := range command.TypedAs {
		if strings.HasPrefix(word, "--") && !slices.Contains(flags, word) {
			t.Errorf("%s is said to be %s, which no command has", field, word)
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands were seen", seen)
	}
}

// typed splits a line like a shell: quotes keep words together, and the command ends at > or |.
func typed(line string) (words []string, ok bool) {
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " >")
	line, _, _ = strings.Cut(line, "; ")
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words, strings.Count(line, "'")%2 == 0 && len(words) > 1
}

// TestHelp_WrongUse_SaysHowTheCommandIsUsed also checks that it exits with 2.
func TestHelp_WrongUse_SaysHowTheCommandIsUsed(t *testing.T) {
	d := newDesk(t)
	for line, says := range map[string][]string{
		"promote":                         {"accepts 1 arg(s), received 0", "usage: wavegate promote CHANNEL [flags]", "wavegate promote --help"},
		"machines show munich-1":          {"usage: wavegate machines show FACTORY MACHINE"},
		"stauts":                          {`"stauts" is not a command of wavegate; did you mean start or status?`, "usage: wavegate COMMAND"},
		"methods relase a b 1":            {"did you mean release?", "usage: wavegate methods COMMAND"},
		"rollback gateway-x/stable":       {"did you mean send-back?"},
		"boxes gateway-x/stable --stat x": {"unknown flag: --stat; did you mean --state?", "usage: wavegate boxes CHANNEL"},
		"freeze":                          {`required flag(s) "for", "reason" not set`, "usage: wavegate freeze"},
		"xyzzy":                           {`"xyzzy" is not a command of wavegate` + "\n"},
	} {
		d.does(strings.Fields(line)...).is(command.Misused).warns(says...)
	}
}

func TestVersion_NamesTheBuild_WithoutAService(t *testing.T) {
	d := &desk{T: t, env: map[string]string{}}
	d.does("version").is(command.Done).says("sha256", "go1.")
	d.does("version", "--json").is(command.Done).says(`"sha256":"`, `"platform":"`)
}
