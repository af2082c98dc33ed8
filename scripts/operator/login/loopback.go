package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Ports are tried in order to receive the answer to a login. Cognito accepts only registered addresses, so a random
// port is not possible.
var Ports = []int{47813, 47814, 47815}

// Redirect is the address that the answer is sent to. Cognito accepts http only for localhost, not for 127.0.0.1.
func Redirect(port int) string { return fmt.Sprintf("http://localhost:%d/callback", port) }

// A Receiver waits on loopback for the answer to a login.
type Receiver struct {
	Redirect string
	listener net.Listener
}

// Receive starts to listen.
func Receive() (*Receiver, error) {
	for _, port := range Ports {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return &Receiver{Redirect(port), l}, nil
		}
	}
	return nil, fmt.Errorf("the ports %v are all in use; free one, or use wavegate login --no-browser", Ports)
}

// Close stops listening.
func (r *Receiver) Close() error { return r.listener.Close() }

// done is the page that the person's browser shows at the end.
const done = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Wavegate</title>` +
	`<p style="font: 1.2rem system-ui; margin: 3rem">You can close this page and go back to the terminal.</p>`

// Browse is the Way through a browser on this machine. open shows an address to the person.
func (r *Receiver) Browse(open func(address string) error) Way {
	return func(ctx context.Context, address string) (string, error) {
		back := make(chan string, 1)
		server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Method != http.MethodGet || q.URL.Path != "/callback" || q.URL.Query().Get("state") == "" {
				http.NotFound(w, q)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Referrer-Policy", "no-referrer")
			_, _ = w.Write([]byte(done)) // the page is only a courtesy
			select {
			case back <- "http://localhost" + q.URL.RequestURI():
			default:
			}
		})}
		failed := make(chan error, 1)
		go func() { failed <- server.Serve(r.listener) }()
		defer func() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = server.Shutdown(ending) // the process ends soon
		}()
		if err := open(address); err != nil {
			return "", err
		}
		select {
		case answer := <-back:
			return answer, nil
		case err := <-failed:
			return "", err
		case <-ctx.Done():
			return "", errors.Join(errors.New("nobody signed in"), ctx.Err())
		}
	}
}
