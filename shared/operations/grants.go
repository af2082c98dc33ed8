package operations

import (
	"slices"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
)

// Registered grants what a registration needs of the boxes: the box itself, and a count of an organization's boxes.
var Registered = Grant{
	Table: dynamo.Edges, Actions: []dynamo.Permission{dynamo.Get, dynamo.Write, dynamo.Query}, Indexes: []string{"byOrganization"}, OnlyIndexes: true,
}

// Registration grants what a change to a box needs.
var Registration = []Grant{
	May(dynamo.Edges, dynamo.Get, dynamo.Write),
	May(dynamo.Reports, dynamo.Get, dynamo.Write),
	May(dynamo.Bells, dynamo.Get, dynamo.Write),
	May(dynamo.Audit, dynamo.Put),
}

// Silencing is registration with the machines for which a box spoke.
var Silencing = append(slices.Clone(Registration), List(dynamo.Machines))

// Registering is registration with the count of an organization's boxes.
var Registering = append([]Grant{Registered}, Registration[1:]...)

// Ended is for what a call ends of boxes' histories.
var Ended = May(dynamo.Stays, dynamo.Put)

// Gateways grants what a change to an organization's gateway needs. A call of the gateway itself may change it too: its
// first call with a new token, and a call for a box that has a token of its own.
var Gateways = []Grant{
	May(dynamo.Gateways, dynamo.Get, dynamo.Write),
	May(dynamo.Audit, dynamo.Put),
}

// AuthorizerGrants are what the authorizer reads to verify codes and the tokens of boxes and gateways.
var AuthorizerGrants = []Grant{May(dynamo.Reports, dynamo.Get), May(dynamo.Gateways, dynamo.Get), May(dynamo.Enrolments, dynamo.Get)}

// ForeignGrants are what the authorizer and the door need besides if boxes may have tokens of another form: the event of wrong ones.
var ForeignGrants = []Grant{May(dynamo.Edges, dynamo.Get, dynamo.Write), May(dynamo.Audit, dynamo.Put)}

// PollSettings are those of polling.ReadSettings.
var PollSettings = []setting.Name{setting.PollIntervalSeconds, setting.IdlePollIntervalSeconds, setting.ChannelCacheSeconds,
	setting.ReportShards, setting.FleetIssuers, setting.DoorURL, setting.DDITenants}
