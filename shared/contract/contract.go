// Package contract holds the service's contract with its callers, openapi.yaml, written by hand. The
// function docs serves it and tests hold the code to it. No other function links it: they would carry
// the document to every start and never read it.
package contract

import _ "embed"

// Document is the contract: OpenAPI 3.1, YAML in UTF-8.
//
//go:embed openapi.yaml
var Document []byte
