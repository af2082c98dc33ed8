package artifact_test

import (
	"crypto/md5"
	"crypto/sha1"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestFinish_OfBytesThatWereDescribedFalsely_KeepsTheRightDigests: clients of hawkBit's DDI compare them, so a false one would
// keep them from every release with these bytes. Each call of this test reads 5 bytes.
func TestFinish_OfBytesThatWereDescribedFalsely_KeepsTheRightDigests(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		program := auth.Principal{Roles: []auth.Role{auth.Program}}
		wish := artifact.Wish{Name: s.n, SizeBytes: int64(len(content)), SHA1: strings.Repeat("0", 40), MD5: strings.Repeat("0", 32), Filename: "image.swu"}
		asked := expect.Value(s.Ask(s.ctx(), program, audit.Origin{}, wish))(t)
		expect.Equal(t, asked.Details, release.Details{SizeBytes: wish.SizeBytes}, "before anything is read, the details are")
		expect.Equal(t, expect.Value(s.send(asked.Upload, content, nil))(t), http.StatusOK, "the store answers")
		s.bucket.Cut.Store(5)
		for read := 5; read < len(content); read += 5 {
			_, err := s.Finish(s.ctx(), audit.Origin{}, s.n)
			expect.Must(t, problem.Has(err, problem.ArtifactNotKept) && strings.Contains(err.Error(), fmt.Sprintf("%d of %d", read, len(content))), "finished with %v", err)
			expect.Equal(t, problem.Has(s.publish(), problem.ArtifactNotKept), true, "published before all is read:")
			s.bucket.Down.Store(true)
			_, err = s.Finish(s.ctx(), audit.Origin{}, s.n)
			expect.Equal(t, problem.Has(err, problem.Unavailable), true, "finished while the store is down: %v", err)
			s.bucket.Down.Store(false)
		}
		kept := expect.Value(s.Finish(s.ctx(), audit.Origin{}, s.n))(t)
		right := release.Details{SizeBytes: wish.SizeBytes, SHA1: fmt.Sprintf("%x", sha1.Sum([]byte(content))), MD5: fmt.Sprintf("%x", md5.Sum([]byte(content)))}
		expect.Equal(t, kept.Details, right, "the details are")
		for _, by := range []auth.Role{auth.Program, auth.PlatformOwner} {
			_, err := s.Ask(s.ctx(), auth.Principal{Roles: []auth.Role{by}}, audit.Origin{}, wish)
			expect.Equal(t, problem.Has(err, problem.Conflict), true, "a %s says something else: %v", by, err)
		}
		expect.Equal(t, expect.Value(s.Get(s.ctx(), s.n))(t).Details, right, "the details stay")
	})
}
