package command_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// every calls a function for a command and all that it holds.
func every(cmd *cobra.Command, each func(*cobra.Command)) {
	each(cmd)
	for _, one := range cmd.Commands() {
		every(one, each)
	}
}

// fresh returns all commands, as a run builds them.
func fresh() *cobra.Command {
	root := command.Commands(&run.Run{Environment: run.Environment{Getenv: func(string) string { return "" }}})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// TestHelp_EveryCommandHasAnExample_ThatCanBeTyped: its command, options and number of arguments are right.
func TestHelp_EveryCommandHasAnExample_ThatCanBeTyped(t *testing.T) {
	seen, flags := 0, map[string]bool{}
	every(fresh(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		if !cmd.Runnable() || cmd.HasSubCommands() && !cmd.HasExample() || cmd.Name() == "help" ||
			strings.HasPrefix(cmd.CommandPath(), "wavegate completion") {
			return // a group, or cobra made it
		}
		seen++
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			expect.That(t, strings.Contains(cmd.Example, "  "+cmd.CommandPath()),
				"no example is of it: %q", cmd.Example)
			for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") {
				words, ok := typed(line)
				if !ok || !strings.HasPrefix(line, "  wavegate ") {
					t.Errorf("the example %q cannot be read", line)
					continue
				}
				found, rest, err := fresh().Find(words[1:])
				for _, check := range []func() error{
					func() error { return found.ParseFlags(rest) }, found.ValidateRequiredFlags,
					func() error { return found.ValidateArgs(found.Flags().Args()) }, found.ValidateFlagGroups,
				} {
					if err == nil {
						err = check()
					}
				}
				expect.That(t, err == nil, "the example %q: %v", line, err)
			}
		})
	})
	for field, word := range run.TypedAs {
		if strings.HasPrefix(word, "--") && !flags[word] {
			t.Errorf("%s is said to be %s, which no command has", field, word)
		}
	}
	expect.That(t, seen >= 50, "only %d commands were seen", seen)
}

// typed splits a line like a shell: quotes keep words together, and the command ends at > or |.
func typed(line string) (words []string, ok bool) {
	for _, end := range []string{" | ", " >", "; "} {
		line, _, _ = strings.Cut(line, end)
	}
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
		"methods relase a b 1":            {"did you mean release or rename?", "usage: wavegate methods COMMAND"},
		"rollback gateway-x/stable":       {"did you mean return?"},
		"boxes gateway-x/stable --stat x": {"unknown flag: --stat; did you mean --state?", "usage: wavegate boxes [CHANNEL]"},
		"freeze":                          {`required flag(s) "for", "reason" not set`, "usage: wavegate freeze"},
		"xyzzy":                           {`"xyzzy" is not a command of wavegate` + "\n"},
	} {
		t.Run(line, func(t *testing.T) { d.at(t).does(strings.Fields(line)...).is(run.Misused).warns(says...) })
	}
}

func TestVersion_NamesTheBuild_WithoutAService(t *testing.T) {
	d := &desk{T: t, env: map[string]string{}}
	d.does("version").is(run.Done).says("sha256", "go1.")
	d.does("version", "--json").is(run.Done).says(`"sha256":"`, `"platform":"`)
}
