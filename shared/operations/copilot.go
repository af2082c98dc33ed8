package operations

import (
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
)

// The operation of the assistant.
var copilotRows = []Operation{
	{
		ID: "copilot", Summary: "Ask the assistant",
		Method: Any, Path: "/api/copilot/{proxy+}",
		Roles: readers, Limit: ratelimit.Copilot, Timeout: copilotTimeout, MemoryMB: memory,
		Takes:    input.Takes{Anything: true},
		Settings: []setting.Name{setting.CopilotURL, setting.CopilotSecretID, setting.CopilotSecret, setting.CopilotTimeoutSeconds},
	},
}
