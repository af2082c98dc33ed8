package demo

import (
	"fmt"
	"time"
)

// A story is a rollout that the demo plays, with a fleet of its own.
type story struct {
	edgeType string
	fleet    []string // options of its fleet: what becomes of the boxes with the target
	policy   string
	raise    bool // people raise it to 10 percent at once, and not the guard
	shows    string
}

const (
	boxes    = 1000 // of each story
	plants   = 40
	interval = 20 * time.Second // between two polls of a box
	looks    = 5 * time.Second  // of the guard
	before   = "1.0.0"
	target   = "1.1.0"
)

// hurried is a policy by which 50 seconds show what takes a day by default. A box polls twice within them.
const (
	hurried = `{"guard":{"silentAfter":"PT50S","decideWithin":"PT10S"},"promote":{"auto":%t,"soak":{"1":"PT50S","10":"PT50S","50":"PT50S","100":"PT50S"}}}`
	// dieAfter is when the boxes of the last story die: they have told by then that all is well.
	dieAfter = 45 * time.Second
)

// stories are played at the same time.
var stories = []story{
	{
		edgeType: "gateway-x", policy: fmt.Sprintf(hurried, true),
		shows: "a good release. The guard takes it from 1 to 100 percent by itself, a stage in about a minute and a half.",
	},
	{
		edgeType: "gateway-y", policy: fmt.Sprintf(hurried, false), raise: true,
		fleet: []string{"--fail", "30%", "--fail-code", "boot"},
		shows: "3 of 10 boxes cannot boot the release. The guard halts it within a minute.",
	},
	{
		edgeType: "gateway-z", policy: fmt.Sprintf(hurried, false), raise: true,
		fleet: []string{"--brick", "50%", "--brick-after", dieAfter.String()},
		shows: "all goes well at first; then half of the boxes die without a word. The guard halts it within 3 minutes.",
	},
}

// prefix begins the ids of a story's boxes.
func (s story) prefix() string { return s.edgeType[len("gateway-"):] + "-" }

func (s story) channel() string { return s.edgeType + "/stable" }

// arguments are those of the story's fleet.
func (s story) arguments(url string) []string {
	return append([]string{
		"--boxes", fmt.Sprint(boxes), "--interval", interval.String(), "--plants", fmt.Sprint(plants),
		"--edge-type", s.edgeType, "--prefix", s.prefix(), "--url", url,
	}, s.fleet...)
}
