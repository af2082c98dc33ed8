// Package contract holds the service's contract with its callers, openapi.yaml. It is bundled from the folder parts,
// which is written by hand, one file per subject. The function docs serves it, and tests compare the code with it. No
// other function links it: it would load the document at every start and never read it.
package contract

import _ "embed"

//go:generate go run ./bundle

// Document is the contract: OpenAPI 3.1, YAML in UTF-8.
//
//go:embed openapi.yaml
var Document []byte
