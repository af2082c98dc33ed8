// Package assistant has the rows of the operations on the assistant.
package assistant

import (
	"time"

	"wavegate/shared/operations"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// The rows.
var (
	Copilot = func() operations.Row[struct{}] {
		return operations.New(operations.Operation{
			ID: "copilot", Summary: "Ask the assistant",
			Method: operations.Any, Path: "/api/copilot/{proxy+}",
			Roles: operations.Readers, Limit: ratelimit.Copilot, Timeout: timeout,
			Takes:    input.Takes{Anything: true},
			Settings: []setting.Name{setting.CopilotURL, setting.CopilotSecretID, setting.CopilotSecret, setting.CopilotTimeoutSeconds},
		}, operations.Nothing)
	}
)

// timeout leaves time to send the answer before the gateway's own timeout of 29 s.
const timeout = 28 * time.Second
