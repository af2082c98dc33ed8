package command

import "github.com/spf13/cobra"

// Parts that tests use directly.
var (
	OperationOf     = operationOf
	Near            = near
	Letters         = letters
	Differences     = differences
	WithoutComments = withoutComments
	TypedAs         = typedAs
)

// Commands returns all commands, as a run builds them.
func Commands(e Environment) *cobra.Command {
	a := &app{Environment: e}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}
