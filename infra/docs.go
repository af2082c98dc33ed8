package main

import (
	"fmt"
	"os"
	"path/filepath"

	"wavegate/shared/operations"
)

// addDocs makes the function that serves the contract and its page, if the settings ask for it.
func (s *service) addDocs() {
	if s.settings.Docs {
		s.add(helper(operations.Docs, "Serve the contract and the page that shows it", nil))
	}
}

// checkDocs refuses to deploy the page without its renderer.
func checkDocs(settings Settings) error {
	renderer := filepath.Join(settings.Functions, operations.Docs, "redoc.js")
	if _, err := os.Stat(renderer); settings.Docs && err != nil {
		return fmt.Errorf("docs: %s is missing; ./scripts/contract docs writes it", renderer)
	}
	return nil
}
