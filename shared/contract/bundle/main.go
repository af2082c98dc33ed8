// Command bundle writes the contract, openapi.yaml, from its parts. Run it by
//
//	go generate ./shared/contract
//
// Its test fails if the two differ.
package main

import (
	"fmt"
	"os"
)

func main() {
	document, err := bundle(os.DirFS("parts"))
	if err == nil {
		err = os.WriteFile("openapi.yaml", document, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}
