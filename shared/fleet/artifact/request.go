package artifact

import (
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/input"
	"wavegate/shared/trail/audit"
)

// Most is the size of the largest artifact: what S3 takes in one PUT, and so checks as a whole.
const Most = 5 << 30

var (
	sizeRule = &input.Integer{Least: 1, Most: Most}
	// reasonRule accepts less than a reason in a body does: a query has no rule for what is not seen.
	reasonRule = &input.Text{Min: 1, Max: 256, Check: input.Printable, Says: "1 to 256 characters without control characters"}
	stateRule  = &input.Text{Pattern: string(Kept), Says: string(Kept)}
	// FilenameRule accepts names that mean the same in a URL, in a bucket's key and in every file system.
	FilenameRule = &input.Text{
		Pattern: `[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*`, Min: 1, Max: 255,
		Says: "letters, digits, underscores, hyphens and single dots between them, the first no hyphen",
	}
)

// A Name names an artifact.
type Name struct{ EdgeType, SHA256 string }

// nameOf reads the path parameters edgeType and sha256.
func nameOf(in *input.Reader) Name {
	return Name{in.Path("edgeType", input.Name), in.Path("sha256", input.SHA256)}
}

// A Wish asks to upload an artifact.
type Wish struct {
	Name
	SizeBytes           int64
	SHA1, MD5, Filename string
}

// WishOf reads a wish: the path and the body.
func WishOf(in *input.Reader) Wish {
	w, body := Wish{Name: nameOf(in)}, in.Body()
	w.SizeBytes = body.Integer("sizeBytes", sizeRule)
	w.SHA1, _ = body.OptionalText("sha1", release.SHA1Rule)
	w.MD5, _ = body.OptionalText("md5", release.MD5Rule)
	w.Filename = body.Text("filename", FilenameRule)
	return w
}

// FinishOf reads the end of an upload: the path, and a body with the only state that can be asked for.
func FinishOf(in *input.Reader) Name {
	name := nameOf(in)
	in.Body().Text("state", stateRule)
	return name
}

// A Removal asks to delete an artifact, with a reason over boxes that were never told it.
type Removal struct {
	Name
	audit.Grounds
}

// RemovalOf reads the path, and the query parameter reason.
func RemovalOf(in *input.Reader) Removal {
	r := Removal{Name: nameOf(in)}
	r.Reason, _ = in.Query("reason", reasonRule)
	return r
}

// A Look asks for an artifact, and perhaps for what uses it.
type Look struct {
	Name
	Uses bool
}

// LookOf reads the path, and the query parameter uses.
func LookOf(in *input.Reader) Look { return Look{nameOf(in), in.Flag("uses")} }
