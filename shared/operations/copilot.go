package operations

import (
	"wavegate/shared/platform/setting"
)

// The operation of the assistant.
var copilot = []Operation{
	{
		ID: "copilot", Summary: "Ask the assistant",
		Method: Any, Path: "/api/copilot/{proxy+}",
		Roles: readers, Limit: Copilot, Timeout: copilotTimeout, MemoryMB: memory,
		Settings: []setting.Name{setting.CopilotURL, setting.CopilotSecret, setting.CopilotTimeoutSeconds},
	},
}
