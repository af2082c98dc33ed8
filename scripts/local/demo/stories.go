package demo

import (
	"fmt"
	"time"
)

// A story is a rollout that the demo plays, with its own fleet.
type story struct {
	edgeType string
	fleet    []string // options of its fleet: the fates of the boxes with the target version
	policy   string
	raise    bool // a person, not the guard, raises it to 10 percent, immediately
	shows    string
}

const (
	boxes    = 750 // of each story
	plants   = 40
	interval = 20 * time.Second // between two polls of a box
	looks    = 5 * time.Second  // of the guard
	before   = "1.0.0"
	target   = "1.1.0"

	imageLines = 4000 // of a release's file, which has some 60 kB
)

// hurried is a policy with 50 seconds for what takes a day by default. A box polls twice in that time. It judges these health
// numbers, and its halt brings boxes back.
const (
	hurried = `{"onHalt":"return","health":{%s},"guard":{"silentAfter":"PT50S","decideWithin":"PT10S"},` +
		`"promote":{"auto":%t,"soak":{"1":"PT50S","10":"PT50S","50":"PT50S","100":"PT50S"}}}`
	cycles = `"cycleSeconds":{"is":"gauge","worse":"higher","by":0.01}`
	// dieAfter is when boxes die: by then they have reported that all is well.
	dieAfter = 45 * time.Second
)

// stories are played at the same time.
var stories = []story{
	{
		edgeType: "gateway-x", policy: fmt.Sprintf(hurried, "", true),
		shows: "a good release. The guard takes it from 1 to 100 percent automatically, a stage in about a minute and a half.",
	},
	{
		edgeType: "gateway-y", policy: fmt.Sprintf(hurried, "", false), raise: true,
		fleet: []string{"--fail", "10%", "--fail-code", "boot", "--fail-revision", "C"},
		shows: "boxes of hardware revision C cannot boot the release. The guard halts it within a minute, and names them.",
	},
	{
		edgeType: "gateway-z", policy: fmt.Sprintf(hurried, "", false), raise: true,
		fleet: []string{"--brick", "50%", "--brick-after", dieAfter.String()},
		shows: "all goes well at first; then half of the boxes die without a report. The guard halts it within 3 minutes.",
	},
	{
		edgeType: "gateway-w", policy: fmt.Sprintf(hurried, cycles, false), raise: true,
		fleet: []string{"--slower", "10%"},
		shows: "all boxes go on, and their machines' cycles take 10 percent longer. The guard halts it within 2 minutes.",
	},
}

// prefix is the beginning of the ids of a story's boxes.
func (s story) prefix() string { return s.edgeType[len("gateway-"):] + "-" }

func (s story) channel() string { return s.edgeType + "/stable" }

// arguments are the arguments of the story's fleet.
func (s story) arguments(url string) []string {
	return append([]string{
		"--boxes", fmt.Sprint(boxes), "--interval", interval.String(), "--plants", fmt.Sprint(plants),
		"--edge-type", s.edgeType, "--prefix", s.prefix(), "--url", url, "--download",
	}, s.fleet...)
}
