package artifact_test

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestUpload_WithAFalseMD5_IsNotTaken: clients of hawkBit's DDI compare it, so a false one would keep them from the release.
func TestUpload_WithAFalseMD5_IsNotTaken(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		wish := artifact.Wish{Name: s.n, SizeBytes: int64(len(content)), Filename: "image.swu"}
		program := auth.Principal{Roles: []auth.Role{auth.Program}}
		upload := func(md5 string) int {
			wish.MD5 = md5
			asked := expect.Value(s.Ask(s.ctx(), program, audit.Origin{}, wish))(t)
			return expect.Value(s.send(asked.Upload, content, nil))(t)
		}
		expect.Equal(t, upload(strings.Repeat("0", 32)), http.StatusBadRequest, "with a false MD5, the store answers")
		wish.EdgeType, s.n.EdgeType = "other-"+wish.EdgeType, "other-"+wish.EdgeType
		expect.Equal(t, upload(fmt.Sprintf("%x", md5.Sum([]byte(content)))), http.StatusOK, "with the right one, the store answers")
		expect.Value(s.Finish(s.ctx(), audit.Origin{}, s.n))(t)
	})
}
