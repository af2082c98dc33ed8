package operations

import (
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/platform/input"
)

// These are the parameters of paths that several operations share.
var (
	channelPath      = input.Fields{{Name: "edgeType", Is: input.Name}, {Name: "channel", Is: input.Name}}
	rolloutPath      = input.Fields{{Name: "id", Is: input.UUID}}
	edgePath         = input.Fields{{Name: "edgeId", Is: input.EdgeID}}
	enrolmentPath    = input.Fields{{Name: "enrolmentId", Is: input.UUID}}
	redemptionPath   = append(enrolmentPath[:1:1], input.Field{Name: "edgeId", Is: input.EdgeID})
	organizationPath = input.Fields{{Name: "organizationId", Is: input.Name}}
	factoryPath      = input.Fields{{Name: "factoryId", Is: input.Slug}}
	machinePath      = input.Fields{{Name: "factoryId", Is: input.Slug}, {Name: "code", Is: input.Name}}
	methodPath       = input.Fields{{Name: "factoryId", Is: input.Slug}, {Name: "methodId", Is: input.UUID}}
	controllerPath   = input.Fields{{Name: "tenant", Is: input.Name}, {Name: Controller, Is: input.EdgeID}}
	actionPath       = append(controllerPath[:2:2], input.Field{Name: "actionId", Is: ddi.ActionRule})
)
