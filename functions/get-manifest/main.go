// Command get-manifest answers a box's poll with what it should run.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/handlers/manifest"
	"wavegate/shared/operations/boxes"
)

func main() { function.Run(boxes.GetManifest(), manifest.Handle) }
