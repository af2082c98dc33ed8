// Command put-ddi-config-data records what a DDI client says about its box. The attribute installed is the version
// that the box runs; the others are kept as the box's attributes.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.PutDDIConfigData(), handlers.ConfigData) }
