// Temporary trial.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func cpu(pids []int) (ticks int) {
	for _, p := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+2:]))
		u, _ := strconv.Atoi(f[11])
		s, _ := strconv.Atoi(f[12])
		ticks += u + s
	}
	return
}

// schedstat's first number is ns on CPU
func cpuNS(pids []int) (ns int64) {
	for _, p := range pids {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", p))
		for _, t := range tasks {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", p, t.Name()))
			if err != nil {
				continue
			}
			n, _ := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
			ns += n
		}
	}
	return
}

type variant struct {
	name   string
	s      *service.Service
	bearer string
	polls  []float64 // µs CPU a poll, by batch
	first  []float64 // ms to the first answer
	boot   []float64 // ms CPU of start and first answer
}

func main() {
	ctx := context.Background()
	dir, err := service.Build(ctx, os.Stderr)
	must(err)
	issuers, err := devissuer.Load("")
	must(err)
	var vs []*variant
	for _, v := range []string{"", "GOMAXPROCS=1"} {
		s, err := service.Start(ctx, service.Options{Functions: dir, Issuers: issuers, Processes: 1, Environment: func(string) []string {
			env := []string{"LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000", "LIMIT_DEADLINE_MS=5000"}
			if v != "" {
				env = append(env, v)
			}
			return env
		}})
		must(err)
		defer s.Stop()
		must(s.Seed(ctx))
		owner, err := s.Bearer("olga", "wavegate", auth.PlatformOwner)
		must(err)
		do(s, "PUT", "/api/edges/box-1", owner, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`)
		b, err := s.Bearer("box-1", "", auth.Edge)
		must(err)
		vs = append(vs, &variant{name: v, s: s, bearer: b})
	}
	poll := func(v *variant) { do(v.s, "GET", "/api/edges/box-1/update/manifest?installed=1.0.0", v.bearer, "") }
	for _, v := range vs {
		for range 200 {
			poll(v)
		}
	}
	for range 25 {
		for _, v := range vs {
			f := v.s.Function("get-manifest")
			before := cpuNS(f.PIDs())
			for range 200 {
				poll(v)
			}
			v.polls = append(v.polls, float64(cpuNS(f.PIDs())-before)/200/1000)
		}
	}
	for range 60 {
		for _, v := range vs {
			f := v.s.Function("get-manifest")
			f.Recycle()
			begin := time.Now()
			poll(v)
			v.first = append(v.first, float64(time.Since(begin).Microseconds())/1000)
			v.boot = append(v.boot, float64(cpuNS(f.PIDs()))/1e6)
		}
	}
	for _, v := range vs {
		fmt.Printf("%-14s CPU a poll %.0f µs, first answer %.2f ms, CPU of start and first answer %.2f ms\n", v.name, med(v.polls), med(v.first), med(v.boot))
	}
}

func med(l []float64) float64 { slices.Sort(l); return l[len(l)/2] }

func do(s *service.Service, method, path, bearer, body string) {
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	must(err)
	r.Header.Set("Authorization", bearer)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := http.DefaultClient.Do(r)
	must(err)
	b, _ := io.ReadAll(a.Body)
	a.Body.Close()
	if a.StatusCode >= 300 {
		panic(fmt.Sprint(a.StatusCode, string(b)))
	}
}
