package enrolment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/change"
)

// A Waiting is a box that waits to be accepted. A call with the same id and another hash makes another Waiting, so that
// nobody can swap the hash that a person has seen.
type Waiting struct {
	EdgeID      string    `json:"edgeId"`
	TokenSHA256 string    `json:"tokenSha256"`
	Since       time.Time `json:"since"`
	// Network is a hash of the network that the box called from.
	Network string `json:"network,omitempty"`
}

// A crowd counts the waiting boxes, so that a call need not read them.
type crowd struct {
	ID       string `json:"id"`
	Part     string `json:"part"`
	Expires  int64  `json:"expires"`
	Revision int64  `json:"revision"`
	Boxes    int    `json:"boxes"`
	// Largest are the networks with the most boxes. They are only known while no more boxes may wait.
	Largest []string `json:"largest,omitempty"`
}

func waitingKey(id string, p Pair) dynamo.Key {
	return key(id, waiting+p.EdgeID+"/"+p.TokenSHA256)
}

// write is the part of a transaction that stores the waiting box.
func (w Waiting) write(e Enrolment) dynamo.TransactItem {
	at := waitingKey(e.ID, Pair{w.EdgeID, w.TokenSHA256})
	return dynamo.TransactPut("waiting", dynamo.Enrolments, nil, waitingItem{w, at["id"], at["part"], e.expires()}, dynamo.Condition{})
}

type waitingItem struct {
	Waiting
	ID      string `json:"id"`
	Part    string `json:"part"`
	Expires int64  `json:"expires"`
}

// waits reports whether a box waits with an id and a hash.
func (s *Store) waits(ctx context.Context, id string, p Pair) (bool, error) {
	return s.db.Get(ctx, dynamo.Enrolments, waitingKey(id, p), new(Waiting))
}

const (
	// mostGone limits how many boxes are dropped at a time.
	mostGone = 50
	// mostLargest limits the networks that a crowd names. From any other one, a call reads the waiting boxes.
	mostLargest = 16
)

// wait adds a waiting box to a set of changes, unless it waits already. If no more boxes may wait, the oldest one of the
// network with the most boxes is dropped, so a caller who makes up boxes displaces only boxes of its own network. From
// that network, the call is refused.
func (s *Store) wait(ctx context.Context, set *change.Set, e Enrolment, p Pair, address string) error {
	var there bool
	var c crowd
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { there, err = s.waits(ctx, e.ID, p); return err },
		func(ctx context.Context) (err error) {
			_, err = s.db.Get(ctx, dynamo.Enrolments, key(e.ID, theCrowd), &c)
			return err
		})
	if err != nil || there {
		return err
	}
	box := Waiting{p.EdgeID, p.TokenSHA256, s.db.Now(), networkOf(address)}
	if slices.Contains(c.Largest, box.Network) {
		return errCrowd
	}
	if c.Boxes+1 >= MostBoxes {
		all, err := s.allWaiting(ctx, e.ID)
		if err != nil {
			return err
		}
		left, gone := admit(append([]Waiting{box}, all...))
		if slices.Contains(gone, box) {
			return errCrowd
		}
		for _, old := range gone {
			set.With(dynamo.TransactDelete("gone", dynamo.Enrolments, waitingKey(e.ID, Pair{old.EdgeID, old.TokenSHA256}), dynamo.Condition{}))
		}
		c.Boxes, c.Largest = len(left), nil
		if len(left) >= MostBoxes {
			c.Largest = largest(left)
		}
	} else {
		c.Boxes++
	}
	c.ID, c.Part, c.Expires, c.Revision = e.ID, theCrowd, e.expires(), c.Revision+1
	set.With(box.write(e), c.write())
	return nil
}

var errCrowd = problem.New(problem.Conflict, "%d boxes wait with this code, and most of them called from the network of this call. "+
	"Accept those that you know, and list the ids of the others in a new enrolment.", MostBoxes)

// admit drops boxes until at most MostBoxes are left, each time the oldest one of the network with the most. The boxes are
// sorted, newest first. The first one calls: it is the one that is dropped if no network has more boxes than its own.
func admit(boxes []Waiting) (left, gone []Waiting) {
	caller, left := boxes[0], boxes
	for len(left) > MostBoxes && len(gone) < mostGone {
		of := largest(left)
		if slices.Contains(of, caller.Network) {
			return left[1:], append(gone, caller)
		}
		for i, w := range slices.Backward(left) {
			if slices.Contains(of, w.Network) {
				gone, left = append(gone, w), slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return left, gone
}

// largest are the networks with the most boxes.
func largest(boxes []Waiting) (networks []string) {
	counts, most := map[string]int{}, 0
	for _, w := range boxes {
		counts[w.Network]++
		most = max(most, counts[w.Network])
	}
	for network, n := range counts {
		if n == most {
			networks = append(networks, network)
		}
	}
	slices.Sort(networks)
	return networks[:min(len(networks), mostLargest)]
}

// networkOf is a hash of the network of an address: an IPv4 address, or the 48 bits of IPv6 that a site has (RFC 6177).
func networkOf(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() && !a.Is4In6() {
		site, _ := a.Prefix(48) // an IPv6 address has more bits
		address = site.String()
	}
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// write is the part of a transaction that stores the crowd after a change.
func (c crowd) write() dynamo.TransactItem {
	return dynamo.TransactPut(theCrowd, dynamo.Enrolments, nil, c, dynamo.AtRevision("id", c.Revision-1))
}

// allWaiting returns the waiting boxes, newest first.
func (s *Store) allWaiting(ctx context.Context, id string) ([]Waiting, error) {
	var all []Waiting
	of := dynamo.Selection{Table: dynamo.Enrolments, Partition: id, Least: waiting, Most: waiting + "~"}
	err := dynamo.Walk(ctx, s.db, of, nil, 0, func(w Waiting) error {
		all = append(all, w)
		return nil
	})
	slices.SortStableFunc(all, func(a, b Waiting) int { return b.Since.Compare(a.Since) })
	return all, err
}
