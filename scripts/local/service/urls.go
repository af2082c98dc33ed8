package service

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"wavegate/scripts/local/gateway"
	"wavegate/shared/operations"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/operations/door"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/bucket"
)

// bell describes the bell as an operation: its permissions and its settings.
var bell = operations.Operation{
	ID: operations.Bell, Grants: operations.BellGrants, Settings: boxes.BellSettings,
	Timeout: operations.HelperTimeout, MemoryMB: operations.HelperMemoryMB,
}

// ownURLs are the functions that have a port of their own, as their URLs on AWS.
var ownURLs = []operations.Operation{bell, doorOf(door.Function)}

// doorOf is the door as a deployment with foreign tokens has it.
func doorOf(op operations.Operation) operations.Operation {
	op.Grants = slices.Concat(op.Grants, operations.ForeignGrants)
	return op
}

// A port is where a function with its own URL answers.
type port struct {
	function string
	listener net.Listener
}

// openURLs opens the ports that functions must know when they start: those of the API, of the bell and of the door.
func (s *Service) openURLs(o Options) (err error) {
	if s.api, err = s.open(o.Address); err != nil {
		return err
	}
	s.URL = "http://" + s.api.Addr().String() + o.Prefix
	for _, own := range []struct {
		function, address string
		url               *string
	}{{operations.Bell, o.Bell, &s.BellURL}, {operations.Door, o.Door, &s.DoorURL}} {
		if own.address == "" {
			continue
		}
		listener, err := s.open(own.address)
		if err != nil {
			return err
		}
		s.ports = append(s.ports, port{own.function, listener})
		*own.url = "http://" + listener.Addr().String()
	}
	s.bellSecret = rand.Text() + rand.Text()
	return nil
}

func (s *Service) open(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		s.onStop(func() { listener.Close() })
	}
	return listener, err
}

// secretKey is the secret access key of all functions.
const secretKey = "local"

// startBucket serves the store of artifacts.
func (s *Service) startBucket(o Options) error {
	folder := o.ArtifactFolder
	if folder == "" {
		made, err := os.MkdirTemp("", "artifacts")
		if err != nil {
			return err
		}
		folder = made
		s.onStop(func() { os.RemoveAll(made) })
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	listener, err := s.open(cmp.Or(o.Artifacts, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	s.ArtifactURL = "http://" + listener.Addr().String()
	s.Bucket = &bucket.Bucket{Folder: folder, Secret: secretKey, Now: time.Now}
	s.serve("artifacts", listener, s.Bucket)
	return nil
}

// urlEnvironment returns an operation's settings for the bell, the door and the store of artifacts.
func (s *Service) urlEnvironment(op operations.Operation) []string {
	values := map[setting.Name]string{setting.DoorURL: s.DoorURL, setting.APIURL: s.URL, setting.ArtifactStoreURL: s.ArtifactURL, setting.ArtifactURL: s.ArtifactURL}
	if s.BellURL != "" {
		values[setting.BellURL], values[setting.BellSecret] = s.BellURL, s.bellSecret
	}
	var env []string
	for name, value := range values {
		if slices.Contains(op.Settings, name) {
			env = append(env, string(name)+"="+value)
		}
	}
	return env
}

// serveURLs serves the ports of functions with their own URLs.
func (s *Service) serveURLs(o Options) {
	for _, p := range s.ports {
		s.serve(p.function, p.listener, gateway.URL{Function: s.invoker(o.Account, p.function), Name: p.function, Access: o.Access})
	}
}

// serve serves a port until the service stops.
func (s *Service) serve(name string, listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.logs.add(name, "its URL stopped: "+err.Error())
		}
	}()
	s.onStop(func() { server.Close(); <-served })
}
