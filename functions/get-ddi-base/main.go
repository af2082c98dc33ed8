// Command get-ddi-base answers the poll of a DDI client: whether there is an action for the box, and when to poll
// again.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.GetDDIBase(), handlers.Base) }
