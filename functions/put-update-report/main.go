// Command put-update-report records a box's report on its offer, and tells the box when to continue.
package main

import (
	"wavegate/shared/function"
	"wavegate/shared/handlers/updatereport"
	"wavegate/shared/operations/boxes"
)

func main() { function.Run(boxes.PutUpdateReport(), updatereport.Handle) }
