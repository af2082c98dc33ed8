package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// Limits of what is known of the contents of a release.
const (
	MostComponents = 5000
	// PieceSize is how many components each piece has, except the last one.
	PieceSize  = 500
	mostPieces = MostComponents / PieceSize
	// shelves is how many items a piece is spread over, by the names of its components, so that a search reads one partition.
	// All of them fit into one transaction.
	shelves = 64
)

// A Component is a part of a release, as an SBOM names it.
type Component struct {
	// Name is its package URL without version, qualifiers and subpath.
	Name    string `json:"purl" stored:"identity"`
	Version string `json:"componentVersion,omitempty"` // empty: the SBOM does not say
}

var (
	// ComponentRule accepts the name of a component.
	ComponentRule = &input.Text{Pattern: `pkg:[a-z][a-z0-9.-]{0,31}/[A-Za-z0-9._~%+:/$&=!*(),;-]{1,220}`, Says: "a package URL without version, qualifiers and subpath"}
	// ComponentVersionRule accepts the version of a component.
	ComponentVersionRule = &input.Text{Pattern: `[!-~]{1,128}`, Says: "1 to 128 printable ASCII characters, and no space"}
	pieceRule            = &input.Text{Pattern: `[1-9]|10`, Says: "a number from 1 to 10"}
	totalRule            = &input.Integer{Least: 1, Most: MostComponents}
)

// Contents say which SBOM the service knows the components of.
type Contents struct {
	SBOM       string `json:"sbom"`       // its SHA-256
	Components int    `json:"components"` // all of them
	// Pieces are the digests of the pieces that have arrived, in their order; empty: one has not.
	Pieces []string `json:"pieces"`
	// Incomplete is set until all pieces are there. No search answers from them before.
	Incomplete bool `json:"incomplete,omitempty"`
}

// A Piece is a part of the components that an SBOM names.
type Piece struct {
	Named
	Number     int // from 1
	SBOM       string
	Total      int // of the components of all pieces
	Components []Component
}

// PieceOf reads a piece.
func PieceOf(in *input.Reader) Piece {
	p := Piece{Named: NamedOf(in)}
	p.Number, _ = strconv.Atoi(in.Path("piece", pieceRule)) // otherwise it is a fault
	return pieceOf(in.Body(), p)
}

func pieceOf(body *input.Object, p Piece) Piece {
	p.SBOM = body.Text("sbom", input.SHA256)
	p.Total = int(body.Integer("total", totalRule))
	body.Objects("components", 1, PieceSize, func(o *input.Object) {
		c := Component{Name: o.Text("purl", ComponentRule)}
		c.Version, _ = o.OptionalText("componentVersion", ComponentVersionRule)
		p.Components = append(p.Components, c)
	})
	if least := max(0, min(PieceSize, p.Total-(p.Number-1)*PieceSize)); p.Number > 0 && p.Total > 0 && len(p.Components) != least {
		body.Fault("components", "length", fmt.Sprintf("must have %d elements in piece %d of %d components", least, p.Number, p.Total))
	}
	return p
}

// digest is of the components of the piece.
func (p Piece) digest() string {
	sum := sha256.New()
	for _, c := range p.Components {
		fmt.Fprintf(sum, "%s@%s\n", c.Name, c.Version)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Holding is what is said of a release once a piece of its contents is there; no event: it is there. It returns CONFLICT if the
// SBOM is none of its documents.
func (s Said) Holding(p Piece, at time.Time) (next Said, event string, err error) {
	if !s.Documents.list(p.SBOM) {
		return s, "", problem.New(problem.Conflict, "The SBOM %s is not among the documents of version %s of %s. Add it there first.", p.SBOM, p.Version, p.EdgeType)
	}
	c := Contents{SBOM: p.SBOM, Components: p.Total, Pieces: make([]string, (p.Total+PieceSize-1)/PieceSize)}
	if was := s.Contents; was != nil && was.SBOM == c.SBOM && was.Components == c.Components {
		copy(c.Pieces, was.Pieces)
	}
	if c.Pieces[p.Number-1] == p.digest() {
		return s, "", nil
	}
	c.Pieces[p.Number-1] = p.digest()
	c.Incomplete = slices.Contains(c.Pieces, "")
	next = s
	next.Contents = &c
	return next.said(p.Named, at), described, nil
}

// list reports whether an SBOM that the service keeps is one of the documents.
func (d Documents) list(sbom string) bool {
	return slices.Contains(d, Document{Kind: "sbom", SHA256: sbom})
}

// known are the contents that searches answer from: those of an SBOM that is still among the documents.
func (s Saying) known() (sbom string, is bool) {
	if c := s.Contents; c != nil && !c.Incomplete && s.Documents.list(c.SBOM) {
		return c.SBOM, true
	}
	return "", false
}

// A shelf is the components of a piece whose names have the same hash.
type shelf struct {
	Partition  string      `json:"edgeType"`
	Key        string      `json:"version"` // of the release, and the piece
	SBOM       string      `json:"sbom"`
	Components []Component `json:"components,omitempty"`
}

// shelfOf is the partition of a component's name.
func shelfOf(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("%s%02d", ContentsPrefix, h.Sum32()%shelves)
}

// ContentsPrefix begins the partitions of components, in the table of releases. No edge type begins so.
const ContentsPrefix = "#components-"

// Shelve stores a piece in the place of what was there.
func Shelve(p Piece) (parts []dynamo.TransactItem) {
	all := map[string][]Component{}
	for _, c := range p.Components {
		all[shelfOf(c.Name)] = append(all[shelfOf(c.Name)], c)
	}
	for i := range shelves {
		at := fmt.Sprintf("%s%02d", ContentsPrefix, i)
		next := shelf{at, fmt.Sprintf("%s#%02d", Pair(p.EdgeType, p.Version), p.Number), p.SBOM, all[at]}
		parts = append(parts, dynamo.TransactNew("components", dynamo.Releases, next, dynamo.Condition{}))
	}
	return parts
}

// A Containing is a release that contains a component in a version.
type Containing struct {
	EdgeType         string `json:"edgeType"`
	Version          string `json:"version"`
	ComponentVersion string `json:"componentVersion,omitempty"` // empty: the SBOM does not say
	SBOM             string `json:"sbom"`
	place            string
}

// beyond follows the places of all components of a shelf.
const beyond = "!"

// containing lists the components of a shelf with a name, after a place.
func (s shelf) containing(name, after string) (list []Containing) {
	pair, _, _ := strings.Cut(s.Key, "#")
	edgeType, version, _ := strings.Cut(pair, "/")
	for _, c := range s.Components {
		if at := s.Key + " " + c.Version; c.Name == name && at > after {
			list = append(list, Containing{edgeType, version, c.Version, s.SBOM, at})
		}
	}
	slices.SortFunc(list, func(a, b Containing) int { return strings.Compare(a.place, b.place) })
	return slices.CompactFunc(list, func(a, b Containing) bool { return a.place == b.place })
}
