// Command get-ddi-deployment tells a DDI client what to install, and where the bytes are.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.GetDDIDeployment(), handlers.Deployment) }
