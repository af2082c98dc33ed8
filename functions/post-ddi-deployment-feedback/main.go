// Command post-ddi-deployment-feedback records a DDI client's progress with an installation.
package main

import (
	"wavegate/shared/function"
	handlers "wavegate/shared/handlers/hawkbit"
	"wavegate/shared/operations/hawkbit"
)

func main() { function.Run(hawkbit.PostDDIDeploymentFeedback(), handlers.DeploymentFeedback) }
