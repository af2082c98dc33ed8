// Package events holds the sample events of all functions; scripts/samples generates those of the operations.
package events

import "embed"

// Files are the events, each of the name of its function.
//
//go:embed *.json
var Files embed.FS
