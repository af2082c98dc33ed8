package command

import "github.com/spf13/cobra"

// What tests look at by itself.
var (
	OperationOf     = operationOf
	Near            = near
	Letters         = letters
	Differences     = differences
	WithoutComments = withoutComments
	TypedAs         = typedAs
)

// Commands are all commands, as a run makes them.
func Commands(e Environment) *cobra.Command {
	a := &app{Environment: e}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}
