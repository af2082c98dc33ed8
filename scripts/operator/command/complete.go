package command

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
)

// mostSearched limits the channels that are searched for boxes.
const mostSearched = 8

// boxNames returns some boxes with ids that begin with prefix. Boxes are listed by channel.
func (a *app) boxNames(ctx context.Context, c *api.Client, prefix string) (names []string) {
	channels := a.channelNames(ctx, c)
	for _, name := range channels[:min(len(channels), mostSearched)] {
		edgeType, channel, _ := api.ChannelName(name)
		query := url.Values{"edgeType": {edgeType}, "channel": {channel}}
		if prefix != "" {
			query.Set("idPrefix", prefix)
		}
		names = append(names, namesIn(ctx, c, "/api/edges", query, "edgeId")...)
	}
	return names
}

// factoryNames returns the factories of the person's own organization.
func (a *app) factoryNames(ctx context.Context, c *api.Client) []string {
	return namesIn(ctx, c, "/api/factories", nil, "factoryId")
}

// completed adds shell completion to a command and its subcommands: for the arguments that their usage line shows in
// capitals, and for the values of some options.
func (a *app) completed(cmd *cobra.Command) {
	for _, one := range cmd.Commands() {
		a.completed(one)
	}
	if !cmd.Runnable() {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words := strings.Fields(cmd.Use)[1:]
		if len(args) >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.proposed(cmd, strings.Trim(words[len(args)], "[].|"), args, typed)
	}
	for option, word := range map[string]string{"channel": "CHANNEL", "factory": "FACTORY", "box": "BOX", "state": "STATE"} {
		if cmd.Flags().Lookup(option) != nil {
			_ = cmd.RegisterFlagCompletionFunc(option, func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) { // it is there
				return a.proposed(cmd, word, args, typed)
			})
		}
	}
}

// stands are the states that a box can have in a rollout.
var stands = []string{"offered", "working", "deferred", "installed", "failed", "reverted"}

// proposed returns the names that complete what is typed, for a word in capitals such as CHANNEL. It gives up after a
// short time.
func (a *app) proposed(cmd *cobra.Command, word string, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c.Patience = 0
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	var names []string
	switch word, _, _ = strings.Cut(word, "|"); word {
	case "CHANNEL":
		names = a.channelNames(ctx, c)
	case "BOX":
		names = a.boxNames(ctx, c, typed)
	case "FACTORY":
		names = a.factoryNames(ctx, c)
	case "MACHINE":
		names = namesIn(ctx, c, factoryPath(args[0])+"/machines", nil, "code")
	case "METHOD":
		names = namesIn(ctx, c, factoryPath(args[0])+"/production-methods", nil, "methodId")
	case "STATE":
		names = slices.Clone(stands)
	case "FILE", "FILE.csv":
		return nil, cobra.ShellCompDirectiveDefault
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveNoFileComp
}
