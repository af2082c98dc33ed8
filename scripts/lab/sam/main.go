// Command sam runs a command beside DynamoDB Local with the service's tables, which Docker's containers can reach.
// scripts/lab/sam/run calls it. The command has STORE, the endpoint for containers, and ISSUERS, the local issuers of
// tokens. The first argument is this machine's address on Docker's network. The file of the second gets the names of the
// tables for the SAM CLI, since a template has references that only a deploy resolves.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamolocal"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "sam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, variables string, command []string) error {
	names := map[string]string{}
	for _, t := range dynamo.Tables {
		names[t.ID.EnvName()] = dynamolocal.TableName(t.ID)
	}
	text, err := json.Marshal(map[string]any{"Parameters": names})
	if err != nil {
		return err
	}
	if err := os.WriteFile(variables, text, 0o600); err != nil {
		return err
	}
	issuers, err := devissuer.Load("")
	if err != nil {
		return err
	}
	db, err := dynamolocal.Reference(ctx, dynamolocal.ReferenceOptions{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := dynamolocal.CreateTables(ctx, db.Client()); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		return err
	}
	store := &url.URL{Scheme: "http", Host: strings.TrimPrefix(db.Endpoint, "http://")} // on loopback, which containers do not reach
	proxy := &http.Server{Handler: httputil.NewSingleHostReverseProxy(store), ReadHeaderTimeout: 5 * time.Second}
	defer proxy.Close()
	go proxy.Serve(listener) //nolint:errcheck // it ends by Close
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env = append(os.Environ(), fmt.Sprint("STORE=http://host.docker.internal:", listener.Addr().(*net.TCPAddr).Port), "ISSUERS="+issuers.Setting())
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Run(); ctx.Err() == nil {
		return err
	}
	return nil
}
