package service

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/platform/lambdahttp"
)

// startLogin serves the local issuer's login on a free loopback port.
func (s *Service) startLogin(known []devissuer.Claims) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.loginOrigin = "http://" + listener.Addr().String()
	provider := s.issuers.Provider(s.loginOrigin)
	provider.Know(known...)
	server := &http.Server{Handler: provider.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.logs.add("login", "the local issuer stopped: "+err.Error())
		}
	}()
	s.onStop(func() { server.Close(); <-served })
	s.login, err = json.Marshal(provider.Login())
	return err
}

// A loginAnswer is the answer at operations.LoginPath. In the stack, API Gateway gives it itself.
type loginAnswer []byte

// Invoke answers a call of the gateway.
func (l loginAnswer) Invoke(context.Context, []byte) ([]byte, error) {
	h := lambdahttp.SecurityHeaders()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	return json.Marshal(events.APIGatewayProxyResponse{StatusCode: http.StatusOK, MultiValueHeaders: h, Body: string(l)})
}
