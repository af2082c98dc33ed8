package service

import (
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"wavegate/scripts/local/gateway"
	"wavegate/shared/operations"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/platform/setting"
)

// bell describes the bell as an operation: its permissions and its settings.
var bell = operations.Operation{ID: operations.Bell, Grants: operations.BellGrants, Settings: boxes.BellSettings}

// A bellPort is the port at which the bell answers, and the secret of its addresses.
type bellPort struct {
	listener net.Listener
	secret   string
}

// openBell opens the bell's port, which functions must know when they start.
func (s *Service) openBell(address string) error {
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s.onStop(func() { listener.Close() })
	s.bell = bellPort{listener, rand.Text() + rand.Text()}
	s.BellURL = "http://" + listener.Addr().String()
	return nil
}

// bellEnvironment returns an operation's settings for the bell.
func (s *Service) bellEnvironment(op operations.Operation) []string {
	if s.BellURL == "" {
		return nil
	}
	var env []string
	for name, value := range map[setting.Name]string{setting.BellURL: s.BellURL, setting.BellSecret: s.bell.secret} {
		if slices.Contains(op.Settings, name) {
			env = append(env, string(name)+"="+value)
		}
	}
	return env
}

// serveBell serves the bell's port.
func (s *Service) serveBell(o Options) {
	if s.BellURL == "" {
		return
	}
	server := &http.Server{
		Handler:           gateway.URL{Function: s.invoker(o.Account, operations.Bell), Name: operations.Bell, Access: o.Access},
		ReadHeaderTimeout: 10 * time.Second,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(s.bell.listener); !errors.Is(err, http.ErrServerClosed) {
			s.logs.add("bell", "the bell stopped: "+err.Error())
		}
	}()
	s.onStop(func() { server.Close(); <-served })
}
