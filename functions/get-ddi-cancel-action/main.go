// Command get-ddi-cancel-action tells a DDI client which action to cancel.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.GetDDICancelAction(), handlers.CancelAction) }
