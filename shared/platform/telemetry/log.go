package telemetry

import (
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Release is the release that the program belongs to. ./scripts/release sets it; it is empty otherwise.
var Release string

// Log is the log of a function. Each line says the release.
func Log() *slog.Logger {
	log := lambdacontext.NewLogger()
	if Release != "" {
		log = log.With("release", Release)
	}
	return log
}
