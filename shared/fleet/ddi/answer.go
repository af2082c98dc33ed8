package ddi

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/input"
)

// A Hyperlink is an absolute URL: clients follow no other.
type Hyperlink struct {
	Href string `json:"href"`
}

// A BaseAnswer is the answer to a poll. Without links it has no _links field, as with hawkBit: the npm client fails on
// an empty one.
type BaseAnswer struct {
	Config struct {
		Polling struct {
			Sleep string `json:"sleep"` // hours, minutes and seconds: 00:05:00
		} `json:"polling"`
		// Door is where the box may poll with its token instead of at the API. It is no link: some clients accept no other
		// links than they know.
		Door *Hyperlink `json:"door,omitempty"`
	} `json:"config"`
	Links struct {
		ConfigData     *Hyperlink `json:"configData,omitempty"`
		DeploymentBase *Hyperlink `json:"deploymentBase,omitempty"`
		CancelAction   *Hyperlink `json:"cancelAction,omitempty"`
	} `json:"_links,omitzero"`
}

// Answer makes the answer to a poll; place is the URL of the poll.
func (b Base) Answer(place string) BaseAnswer {
	var a BaseAnswer
	a.Config.Polling.Sleep = sleep(b.Sleep)
	if b.Door != "" {
		a.Config.Door = &Hyperlink{b.Door}
	}
	if b.Identify {
		a.Links.ConfigData = &Hyperlink{place + "/configData"}
	}
	if b.Deployment != 0 {
		// Some clients find the action's number only if it is followed by a query. They send the query back.
		number := strconv.FormatInt(b.Deployment, 10)
		a.Links.DeploymentBase = &Hyperlink{place + "/deploymentBase/" + number + "?c=" + number}
	}
	if b.Cancel != 0 {
		a.Links.CancelAction = &Hyperlink{place + "/cancelAction/" + strconv.FormatInt(b.Cancel, 10)}
	}
	return a
}

// longestSleep is the longest time that every client can read.
const longestSleep = 24*time.Hour - time.Second

func sleep(d time.Duration) string {
	s := int(min(d, longestSleep) / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// A DeploymentAnswer says what a box should install. It has one chunk with one artifact: RAUC clients do not accept
// more.
type DeploymentAnswer struct {
	ID         string `json:"id"`
	Deployment struct {
		Download string `json:"download"` // forced: immediately; attempt: when it suits the box
		Update   string `json:"update"`   // also skip: not now
		// MaintenanceWindow is available or unavailable; empty: there are no windows.
		MaintenanceWindow string  `json:"maintenanceWindow,omitempty"`
		Chunks            []Chunk `json:"chunks"`
	} `json:"deployment"`
}

// A Chunk is a release.
type Chunk struct {
	Part      string     `json:"part"`
	Version   string     `json:"version"`
	Name      string     `json:"name"` // the edge type
	Artifacts []Artifact `json:"artifacts"`
}

// An Artifact is where a release's bytes are.
type Artifact struct {
	Filename string            `json:"filename"`
	Hashes   map[string]string `json:"hashes"`
	Size     int64             `json:"size"`
	Links    struct {
		Download     Hyperlink  `json:"download"`
		DownloadHTTP *Hyperlink `json:"download-http,omitempty"`
	} `json:"_links"`
}

// Answer makes the answer of a deployment.
func (d Deployment) Answer() DeploymentAnswer {
	r := d.Release
	artifact := Artifact{Filename: filename(r.ArtifactURL), Hashes: map[string]string{"sha1": r.SHA1, "sha256": r.SHA256}, Size: r.SizeBytes}
	if r.MD5 != "" {
		artifact.Hashes["md5"] = r.MD5
	}
	artifact.Links.Download = Hyperlink{r.ArtifactURL}
	if r.ArtifactHTTPURL != "" {
		artifact.Links.DownloadHTTP = &Hyperlink{r.ArtifactHTTPURL}
	}
	a := DeploymentAnswer{ID: strconv.FormatInt(d.Action, 10)}
	a.Deployment.Download, a.Deployment.Update = "forced", "forced"
	switch {
	case d.Closed:
		a.Deployment.Download, a.Deployment.Update, a.Deployment.MaintenanceWindow = "attempt", "skip", "unavailable"
	case d.Windowed:
		a.Deployment.Download, a.Deployment.Update, a.Deployment.MaintenanceWindow = "attempt", "attempt", "available"
	}
	a.Deployment.Chunks = []Chunk{{Part: cmp.Or(r.Part, release.DefaultPart), Version: r.Version, Name: r.EdgeType, Artifacts: []Artifact{artifact}}}
	return a
}

// filename is the last part of the artifact's URL, with underscores for what a name of a file should not have: a client may use
// it as one.
func filename(address string) string {
	u, err := url.Parse(address)
	if err != nil || slices.Contains([]string{"/", ".", ".."}, path.Base(u.Path)) {
		return "artifact"
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune(`\:*?"<>|`, c) || !input.Visible("a"+string(c)) {
			return '_'
		}
		return c
	}, path.Base(u.Path))
}

// A CancelAnswer asks a box to give up an action.
type CancelAnswer struct {
	ID           string `json:"id"`
	CancelAction struct {
		StopID string `json:"stopId"`
	} `json:"cancelAction"`
}

// NewCancelAnswer makes the answer of a cancellation. Its stopId is the action to stop.
func NewCancelAnswer(action int64) CancelAnswer {
	a := CancelAnswer{ID: strconv.FormatInt(action, 10)}
	a.CancelAction.StopID = a.ID
	return a
}
