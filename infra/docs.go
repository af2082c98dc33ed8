package main

import (
	"fmt"

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
	if _, err := settings.head(operations.Docs, "redoc.js"); settings.Docs && err != nil {
		return fmt.Errorf("docs: %w; ./scripts/contract docs writes it", err)
	}
	return nil
}
