package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A grouping puts a share of the boxes into groups of a size, within their plants.
type grouping struct {
	Boxes float64
	Size  int
}

// group puts boxes into groups, as many as the world says and its plants have boxes for.
func (p *play) group(r *rand.Rand) {
	p.groups = make([][]int32, 1)
	free := make([][]int32, p.world.Plants)
	for i := range p.boxes {
		free[p.boxes[i].plant] = append(free[p.boxes[i].plant], int32(i))
	}
	for _, g := range p.world.Groups {
		left := chosen(g.Boxes, p.world.Boxes)
		for taken := true; taken && left >= g.Size; {
			taken = false
			for _, plant := range r.Perm(len(free)) {
				if len(free[plant]) < g.Size || left < g.Size {
					continue
				}
				members := free[plant][:g.Size]
				free[plant], left, taken = free[plant][g.Size:], left-g.Size, true
				for _, i := range members {
					p.boxes[i].group, p.boxes[i].edge.Group = len(p.groups), fmt.Sprint("group-", len(p.groups))
				}
				p.groups = append(p.groups, members)
			}
		}
	}
}

// isDown reports whether a box is down because of the release.
func (p *play) isDown(b *box) bool {
	return b.told && b.dies <= p.now || b.dies > p.now && (b.down || b.failing && b.runsTarget)
}

// forADay is how long a box that died with the release keeps others waiting that go back to the version before, since its last call.
const forADay = 24 * time.Hour

// goesDown counts a box that goes down while another of its group is. Who calls a release urgent accepts that.
func (p *play) goesDown(b *box) {
	if b.group == 0 || p.haste().Urgent {
		return
	}
	for _, i := range p.groups[b.group] {
		if m := &p.boxes[i]; m != b && p.isDown(m) && !(b.installing == oldVersion && m.dies <= p.now-forADay+p.world.IdlePoll) {
			p.kept.Together++
			return
		}
	}
}
