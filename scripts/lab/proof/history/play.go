package history

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// A Size is the size of a history.
type Size struct {
	Clients int
	Calls   int // calls of each client
}

// Calls draw from these few values, so that they collide.
var (
	versions = []string{"1.0.0", "1.1.0", "1.2.0"}
	digests  = []string{"a", "b"}
	percents = []int{10, 10, 50, 100, 1}
)

// Play runs clients that call the service at the same time, with calls drawn from the seed, and
// returns the history. In most histories one client first publishes two versions and starts a
// rollout. In the others there is no channel at the start.
func Play(seed uint64, size Size, service func(Input) Output) *History {
	h := New()
	t := &table{}
	opening := &player{history: h, table: t, service: service}
	if seed%5 > 0 {
		opening.call(Input{Action: Publish, Version: versions[1], Digest: digests[0]})
		opening.call(Input{Action: Publish, Version: versions[0], Digest: digests[0]})
		opening.call(Input{Action: Start, Version: versions[1]})
	}
	size.play(seed, player{history: h, table: t, service: service, channel: Tag{Revision: 2}}, (*player).draw)
	return h
}

// PlayBox is Play for calls about one box. In most histories the box is registered first.
func PlayBox(seed uint64, size Size, service func(Input) Output) *History {
	h := New()
	opening := &player{history: h, service: service}
	if seed%5 > 0 {
		opening.call(Input{Action: Register, Channel: "stable"})
	}
	size.play(seed, player{history: h, service: service, box: 1}, (*player).drawBox)
	return h
}

func (size Size) play(seed uint64, like player, draw func(*player) Input) {
	var clients sync.WaitGroup
	for i := range size.Clients {
		clients.Go(func() {
			p := like
			p.client, p.random = i+1, rand.New(rand.NewPCG(seed, uint64(i)))
			for range size.Calls {
				p.call(draw(&p))
			}
		})
	}
	clients.Wait()
}

// A table is what all players know in common.
type table struct {
	mu       sync.Mutex
	rollouts []string // the ids in the answers to starts
}

func (t *table) latest(random *rand.Rand) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := len(t.rollouts); {
	case n == 0:
		return ""
	case n > 1 && random.IntN(4) == 0:
		return t.rollouts[random.IntN(n)]
	default:
		return t.rollouts[n-1]
	}
}

// knows reports whether the id is empty, or from the answer to a start.
func (t *table) knows(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return id == "" || slices.Contains(t.rollouts, id)
}

type player struct {
	client  int
	history *History
	table   *table
	service func(Input) Output
	random  *rand.Rand
	// The last values in its answers.
	channel Tag
	rollout int64
	box     int64
}

func (p *player) call(in Input) {
	out := p.history.Call(p.client, in, p.service)
	if out.Lost || out.Code != "" {
		return
	}
	switch in.Action {
	case Start:
		p.table.mu.Lock()
		p.table.rollouts = append(p.table.rollouts, out.ID)
		p.table.mu.Unlock()
		p.rollout = 1
	case ReadChannel, ReadRow:
		if p.table.knows(out.Tag.Rollout) { // nobody knows the id of a rollout with an unanswered start
			p.channel = out.Tag
		}
	case ReadRollout:
		p.rollout = out.Rollout.Revision
	case ReadBox:
		p.box = out.Box.Revision
	}
}

func (p *player) drawBox() Input {
	switch n := p.random.IntN(100); {
	case n < 15:
		return Input{Action: Register, Channel: pick(p, []string{"stable", "stable", "canary"}), IfMatch: p.sometimes(p.box)}
	case n < 25:
		return Input{Action: Retire, IfMatch: p.sometimes(p.box)}
	case n < 50:
		return Input{Action: Poll, Running: pick(p, []string{"1.0.0", "2.0.0", "2.0.0", "3.0.0"})}
	case n < 80:
		return Input{Action: Report, Version: pick(p, []string{"2.0.0", "2.0.0", "3.0.0"}),
			Attempt: 1 + p.random.IntN(3), Outcome: pick(p, []string{"working", "deferred", "failed"})}
	case n < 88:
		return Input{Action: ReadBox}
	default:
		return Input{Action: ReadReportRow}
	}
}

func (p *player) draw() Input {
	var in Input
	id := p.table.latest(p.random)
	switch n := p.random.IntN(100); {
	case n < 20:
		in = Input{Action: Publish, Version: pick(p, versions), Digest: digests[0]}
		if p.random.IntN(6) == 0 {
			in.Digest = digests[1]
		}
		switch p.random.IntN(6) {
		case 0, 1:
			in.IfTag = p.channel
		case 2:
			in.IfTag = Tag{Revision: p.channel.Revision + 1}
		}
	case n < 35 || id == "" && n < 92:
		in = Input{Action: Start, Version: pick(p, versions)}
	case n < 75:
		in = Input{Action: Move, Rollout: id, IfMatch: p.sometimes(p.rollout)}
		if p.random.IntN(3) > 0 {
			in.Percent = pick(p, percents)
		}
		if in.Percent == 0 || p.random.IntN(4) == 0 {
			in.Status = pick(p, []string{halted, active, completed})
			if in.Status == active {
				in.Percent = 0 // they cannot be sent together
			}
			in.Return = in.Status == halted && p.random.IntN(2) == 0
		}
	case n < 83:
		in = Input{Action: ReadChannel}
	case n < 92:
		in = Input{Action: ReadRollout, Rollout: id}
	default:
		in = Input{Action: ReadRow}
	}
	return in
}

func pick[T any](p *player, from []T) T { return from[p.random.IntN(len(from))] }

// sometimes returns a revision for If-Match, usually a known one, or 0 for none.
func (p *player) sometimes(known int64) int64 {
	switch p.random.IntN(6) {
	case 0, 1:
		return known
	case 2:
		return known + 1
	}
	return 0
}
