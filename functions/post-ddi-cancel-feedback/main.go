// Command post-ddi-cancel-feedback records whether a DDI client has cancelled an action.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.PostDDICancelFeedback(), handlers.CancelFeedback) }
