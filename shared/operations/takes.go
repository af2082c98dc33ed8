package operations

import "wavegate/shared/platform/input"

// These are the parameters of paths that several operations share.
var (
	ChannelPath      = input.Fields{{Name: "edgeType", Is: input.Name}, {Name: "channel", Is: input.Name}}
	RolloutPath      = input.Fields{{Name: "id", Is: input.UUID}}
	EdgePath         = input.Fields{{Name: "edgeId", Is: input.EdgeID}}
	EnrolmentPath    = input.Fields{{Name: "enrolmentId", Is: input.UUID}}
	RedemptionPath   = append(EnrolmentPath[:1:1], input.Field{Name: "edgeId", Is: input.EdgeID})
	OrganizationPath = input.Fields{{Name: "organizationId", Is: input.Name}}
	FactoryPath      = input.Fields{{Name: "factoryId", Is: input.Slug}}
	MachinePath      = input.Fields{{Name: "factoryId", Is: input.Slug}, {Name: "code", Is: input.Name}}
	MethodPath       = input.Fields{{Name: "factoryId", Is: input.Slug}, {Name: "methodId", Is: input.UUID}}
	ControllerPath   = input.Fields{{Name: "tenant", Is: input.Name}, {Name: Controller, Is: input.EdgeID}}
)
