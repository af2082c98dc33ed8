package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// A former server answers DDI clients that have the token as hawkBit does, and has one action for one of them.
type former struct {
	name    string // where clients reach it
	box     string // the one with an action
	image   image
	mu      sync.Mutex
	polled  map[string]int
	refused []string
}

var boxesThatTurn = []string{"box-1", "box-2", "box-3", "box-4", "box-5", "box-6", "box-7", "box-8", "box-9", "box-10"}

// tokenOf is a box's token, as hawkBit makes them.
func tokenOf(id string) string { return fmt.Sprintf("%032x", id) }

type image struct {
	ArtifactURL, SHA1, SHA256 string
	SizeBytes                 int64
}

func (f *former) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, is := strings.CutPrefix(r.URL.Path, "/DEFAULT/controller/v1/")
	id, rest, _ := strings.Cut(path, "/")
	if !is || r.Header.Get("Authorization") != "TargetToken "+tokenOf(id) {
		f.refused = append(f.refused, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/hal+json")
	const action = "deploymentBase/517"
	switch links := ""; rest {
	case "":
		f.polled[id]++
		if id == f.box {
			links = fmt.Sprintf(`,"_links":{"deploymentBase":{"href":"%s%s/%s"}}`, f.name, r.URL.Path, action)
		}
		fmt.Fprintf(w, `{"config":{"polling":{"sleep":"00:00:01"}}%s}`, links)
	case action:
		fmt.Fprintf(w, `{"id":"517","deployment":{"download":"forced","update":"forced","chunks":[{"part":"os","version":"1.1.0","name":"n","artifacts":[
			{"filename":"1.1.0.swu","size":%d,"hashes":{"sha1":%q,"sha256":%q},"_links":{"download":{"href":%q}}}]}]}}`, f.image.SizeBytes, f.image.SHA1, f.image.SHA256, f.image.ArtifactURL)
	}
}

// sees reports whether each box has polled so often.
func (f *former) sees(polls int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !slices.ContainsFunc(boxesThatTurn, func(id string) bool { return f.polled[id] < polls })
}

// forget forgets the polls, and the action: its box has carried it out.
func (f *former) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polled, f.box = map[string]int{}, ""
}

// A turn is a name in the hosts of boxes that leads to the former server, or to the service.
type turn struct {
	hosts   string // a file
	port    string
	mu      sync.Mutex
	refused []string // what the service refused
}

func (n *turn) name() string { return "http://updates.example:" + n.port }

// to lets the name lead to an address. The file stays the same one, which the boxes see as their /etc/hosts.
func (n *turn) to(t *testing.T, address string) {
	t.Helper()
	expect.OK(t, os.WriteFile(n.hosts, []byte(address+" updates.example\n127.0.0.1 localhost\n"), 0o600))
}

const formerly, now = "127.0.0.2", "127.0.0.3"

func newTurn(t *testing.T) *turn {
	t.Helper()
	return &turn{hosts: filepath.Join(t.TempDir(), "hosts")}
}

// serve serves at an address, at the same port as the other server.
func (n *turn) serve(t *testing.T, address string, handler http.Handler) {
	t.Helper()
	listener := expect.Value((&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(address, n.port)))(t)
	if n.port == "" {
		_, n.port, _ = net.SplitHostPort(listener.Addr().String())
	}
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Config.SetKeepAlivesEnabled(false) // as between polls that are minutes apart
	server.Start()
	t.Cleanup(server.Close)
}

// service leads to the service, and notes what that refuses.
func (n *turn) service(place string) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: strings.TrimPrefix(place, "http://")})
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode >= http.StatusBadRequest {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.refused = append(n.refused, fmt.Sprint(r.Request.Method, " ", r.Request.URL.Path, ": ", r.StatusCode))
		}
		return nil
	}
	return proxy
}

// others are boxes without a client of their own. They resolve the name at each call, say what they run if they are asked, and must be
// told nothing else. The returned function ends them.
func (n *turn) others(t *testing.T, ids []string) (end func()) {
	t.Helper()
	resolve := func(ctx context.Context, network, _ string) (net.Conn, error) {
		hosts, err := os.ReadFile(n.hosts)
		if err != nil {
			return nil, err
		}
		address, _, _ := strings.Cut(string(hosts), " ")
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(address, n.port))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: resolve}}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, id := range ids {
		place := n.name() + "/DEFAULT/controller/v1/" + id
		call := func(method, at, body string) (answer string) {
			r, _ := http.NewRequestWithContext(ctx, method, at, strings.NewReader(body))
			r.Header.Set("Authorization", "TargetToken "+tokenOf(id))
			r.Header.Set("Content-Type", "application/json")
			if a, err := client.Do(r); err == nil { // otherwise the name has just turned
				text, _ := io.ReadAll(a.Body)
				_ = a.Body.Close()
				answer = string(text)
			}
			return answer
		}
		group.Go(func() {
			for ctx.Err() == nil {
				base := call(http.MethodGet, place, "")
				if strings.Contains(base, "/configData") {
					call(http.MethodPut, place+"/configData", `{"data":{"installed":"1.0.0"}}`)
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	end = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(end)
	return end
}

// TestSWUpdate_TheNameTurns_BoxesComeOver_AndGoBack: two with SWUpdate, in namespaces of their own whose /etc/hosts turns, and eight
// more. One of the former is downloading meanwhile, by the other server's action. Nobody installs what it has, and nobody is refused.
func TestSWUpdate_TheNameTurns_BoxesComeOver_AndGoBack(t *testing.T) {
	expect.Full(t)
	n, d := newTurn(t), newDepot(t)
	expect.OK(t, os.WriteFile(n.hosts, nil, 0o600))
	d.within = []string{"unshare", "-r", "-m", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, n.hosts}
	if err := exec.CommandContext(t.Context(), d.within[0], append(d.within[1:], "true")...).Run(); err != nil {
		expect.Missing(t, fmt.Sprintf("a namespace with other hosts cannot be made here: %v", err))
	}
	d.slow, d.padding = true, 4<<20 // for some ten seconds
	old, publication := &former{box: "box-2", polled: map[string]int{}}, []byte(d.image(t, "1.1.0", false))
	expect.OK(t, json.Unmarshal(publication, &old.image))
	n.serve(t, formerly, old)
	old.name = n.name()
	w, owner := published(t, atRoot, withForeignTokens, withSettings("DDI_TENANTS=acme=DEFAULT", setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	n.serve(t, now, n.service(w.Target.URL))
	n.to(t, formerly)

	owner.Put(t, channelPath("gateway-x", "canary"), string(publication)).Is(t, http.StatusCreated)
	for i, id := range boxesThatTurn {
		body := strings.Replace(importedWith(tokenOf(id), `,"imported":{"actionsAbove":517}`), "box-1", id, 1)
		if i == 1 { // it will run the release of its action
			body = strings.Replace(body, "stable", "canary", 1)
		}
		owner.Post(t, "/api/edges", body).Is(t, http.StatusOK)
	}
	asThere := []string{"-t", "DEFAULT", "-u", n.name()}
	idle := d.swupdate(t, w, "box-1", tokenOf("box-1"), "1.0.0", asThere...)
	loads := d.swupdate(t, w, "box-2", tokenOf("box-2"), "1.0.0", asThere...)
	others := n.others(t, boxesThatTurn[2:])
	expect.Until(t, "the former server sees all, and one downloads", func() bool { return old.sees(1) && d.begun.Load() > 0 })

	n.to(t, now) // libcurl keeps an address for a minute
	for _, id := range append([]string{"box-1"}, boxesThatTurn[2:]...) {
		runs(t, owner, id, "1.0.0")
	}
	expect.Until(t, "the download ends", func() bool { return loads.says("Update successful") && d.installed("1.1.0") })
	loads.stop()
	loads = d.swupdate(t, w, "box-2", tokenOf("box-2"), "1.1.0", append(asThere, "-c", "2")...)
	runs(t, owner, "box-2", "1.1.0")
	for _, id := range append([]string{"box-1"}, boxesThatTurn[2:]...) { // the other one may have begun again
		expect.That(t, why(t, owner, id).Report == nil, "%s was told something", id)
	}
	owner.Put(t, channel, d.image(t, "1.2.0", false)).Is(t, http.StatusNoContent)
	expect.Until(t, "SWUpdate has installed what it is told here", func() bool { return idle.says("Update successful") && d.installed("1.2.0") })
	idle.stop()

	n.to(t, formerly)
	idle = d.swupdate(t, w, "box-1", tokenOf("box-1"), "1.2.0", append(asThere, "-c", "2")...)
	old.forget()
	expect.Until(t, "the former server sees all again", func() bool { return old.sees(2) })
	for _, b := range []*daemon{idle, loads} {
		b.stop()
	}
	others()
	n.mu.Lock()
	defer n.mu.Unlock()
	expect.Equal(t, [][]string{n.refused, old.refused}, [][]string{nil, nil}, "the servers refused")
}
