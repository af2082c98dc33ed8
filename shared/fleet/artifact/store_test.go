package artifact_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/publication"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/bucket"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A shelf is a store with its bucket, and a clock.
type shelf struct {
	*artifact.Store
	db     *dynamo.DB
	bucket *bucket.Bucket
	url    string
	ahead  atomic.Int64
	n      artifact.Name
}

const content = "the bytes of an artifact"

func eachShelf(t *testing.T, test func(t *testing.T, s *shelf)) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		s := &shelf{n: artifact.Name{EdgeType: "t-" + uuid.NewString(), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content)))}}
		s.db = dynamo.Open(client, s.now)
		s.bucket = &bucket.Bucket{Folder: t.TempDir(), Secret: "secret", Now: s.now}
		server := httptest.NewServer(s.bucket)
		t.Cleanup(server.Close)
		s.url = server.URL
		for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token", "AWS_REGION": "eu-central-1",
			string(setting.ArtifactStoreURL): server.URL, string(setting.ArtifactURL): server.URL} {
			t.Setenv(name, value)
		}
		values := setting.NewValues(artifact.Settings...)
		s.Store = artifact.NewStore(s.db, artifact.ReadBucket(values, s.now, io.Discard))
		expect.OK(t, values.Err())
		test(t, s)
	})
}

func (s *shelf) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *shelf) ctx() context.Context { return admission.Unlimited(context.Background()) }

func (s *shelf) ask() (artifact.Asked, error) {
	return s.Ask(s.ctx(), auth.Principal{Roles: []auth.Role{auth.PlatformOwner}}, audit.Origin{}, artifact.Wish{Name: s.n, SizeBytes: int64(len(content)), Filename: "image.swu"})
}

// send makes an upload, with a change to the request.
func (s *shelf) send(u *artifact.Upload, body string, change func(*http.Request)) (int, error) {
	r, err := http.NewRequest(http.MethodPut, u.URL, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	res.Body.Close()
	return res.StatusCode, nil
}

func (s *shelf) keep(t *testing.T) {
	t.Helper()
	asked := expect.Value(s.ask())(t)
	expect.Value(s.send(asked.Upload, content, nil))(t)
	expect.Value(s.Finish(s.ctx(), audit.Origin{}, s.n))(t)
}

func (s *shelf) publish() error {
	_, err := publication.NewStore(s.db).Publish(s.ctx(), audit.Origin{}, release.Publication{EdgeType: s.n.EdgeType, Channel: "stable", CurrentVersion: "1.0.0",
		SHA256: s.n.SHA256, KeptAt: s.url}, input.Preconditions{})
	return err
}

// uses finds the use by a channel.
func (s *shelf) uses(ctx context.Context, n artifact.Name, _ bool) (uses []string, err error) {
	err = release.NewStore(s.db).EachRow(ctx, n.EdgeType, func(r release.ChannelRow) { uses = append(uses, r.ID()) })
	return uses, err
}

// files are those in the bucket.
func (s *shelf) files(t *testing.T) []string {
	t.Helper()
	files := expect.Value(filepath.Glob(filepath.Join(s.bucket.Folder, "*", "*")))(t)
	return files
}

// sweep sweeps until nothing of this shelf is due, as other tests may have artifacts in the same table.
func (s *shelf) sweep(t *testing.T) error {
	t.Helper()
	var err error
	for range 20 {
		var all bool
		if all, err = s.Sweep(s.ctx(), audit.Origin{}, s.uses); all {
			return nil
		}
	}
	return err
}

func TestUpload_OfAnythingElse_IsRefusedByTheStore(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		asked, err := s.ask()
		expect.OK(t, err)
		for name, c := range map[string]struct {
			body   string
			change func(*http.Request)
			status int
		}{
			"other bytes":    {strings.ToUpper(content), nil, http.StatusBadRequest},
			"other length":   {content + "!", nil, http.StatusForbidden},
			"no digest":      {content, func(r *http.Request) { r.Header.Del("X-Amz-Checksum-Sha256") }, http.StatusForbidden},
			"over an object": {content, func(r *http.Request) { r.Header.Del("If-None-Match") }, http.StatusForbidden},
			"forged": {content, func(r *http.Request) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "X-Amz-Signature=", "X-Amz-Signature=0", 1)
			}, http.StatusForbidden},
			"another object": {content, func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "image", "imagf", 1) }, http.StatusForbidden},
			"outside":        {content, func(r *http.Request) { r.URL.Path = "/a/..%2fb" }, http.StatusNotFound},
			"longer": {content, func(r *http.Request) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "Expires=3600", "Expires=36000", 1)
			}, http.StatusForbidden},
			"as public":        {content, func(r *http.Request) { r.Header.Set("X-Amz-Acl", "public-read") }, http.StatusForbidden},
			"two signatures":   {content, func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, http.StatusBadRequest},
			"without a length": {content, func(r *http.Request) { r.ContentLength = -1; r.Body = io.NopCloser(strings.NewReader(content)) }, http.StatusLengthRequired},
			"deleted by it":    {content, func(r *http.Request) { r.Method = http.MethodDelete }, http.StatusForbidden},
			"expired":          {content, func(*http.Request) { s.ahead.Store(int64(time.Hour + time.Minute)) }, http.StatusForbidden},
		} {
			t.Run(name, func(t *testing.T) {
				status := expect.Value(s.send(asked.Upload, c.body, c.change))(t)
				expect.Equal(t, status, c.status, "the store answers")
				s.ahead.Store(0)
				expect.Equal(t, len(s.files(t)), 0, "it has objects:")
			})
		}
		_, err = s.Finish(s.ctx(), audit.Origin{}, s.n)
		expect.Equal(t, problem.Has(err, problem.ArtifactNotKept), true, "finished with %v", err)
	})
}

func TestStore_ThatDoesNotAnswer_IsUnavailable(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		asked, err := s.ask()
		expect.OK(t, err)
		s.bucket.Down.Store(true)
		_, err = s.Finish(s.ctx(), audit.Origin{}, s.n)
		expect.Equal(t, problem.Has(err, problem.Unavailable), true, "finished with %v", err)
		s.bucket.Down.Store(false)
		expect.Value(s.send(asked.Upload, content, nil))(t)
		expect.Value(s.Finish(s.ctx(), audit.Origin{}, s.n))(t)
	})
}

// TestSweep_KilledAtAnyPoint_IsMadeUpFor: the bytes go first, then the row, and nothing undoes that.
func TestSweep_KilledAtAnyPoint_IsMadeUpFor(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		s.keep(t)
		expect.OK(t, s.Delete(s.ctx(), audit.Origin{}, s.n, s.uses))
		expect.OK(t, s.sweep(t))
		expect.Equal(t, len(s.files(t)), 1, "before seven days, there are objects:")
		s.ahead.Store(int64(8 * 24 * time.Hour))
		s.bucket.Down.Store(true)
		expect.Error(t, s.sweep(t), "UNAVAILABLE", "while the bucket is down")
		_, err := s.ask()
		expect.Equal(t, problem.Has(err, problem.Conflict), true, "asked while it is removed: %v", err)
		expect.Equal(t, problem.Has(s.publish(), problem.ArtifactNotKept), true, "published while it is removed")
		s.bucket.Down.Store(false)
		for _, file := range s.files(t) { // killed after the bytes were removed
			expect.OK(t, os.Remove(file))
		}
		expect.OK(t, s.sweep(t))
		r := expect.Value(s.Row(s.ctx(), s.n))(t)
		expect.Equal(t, []any{r.State, r.Removing}, []any{artifact.Removed, false}, "the row")
		s.keep(t)
		expect.OK(t, s.publish())
	})
}

// TestSweep_OfWhatFails_DoesNotKeepOthersWaiting: a sweep takes ten artifacts, and the uses of more than that cannot be found.
func TestSweep_OfWhatFails_DoesNotKeepOthersWaiting(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		own := s.n.EdgeType
		for i := range 13 {
			s.n.EdgeType = fmt.Sprintf("%s-%02d", own, i)
			expect.Value(s.ask())(t)
		}
		s.ahead.Store(int64(25 * time.Hour))
		uses := func(_ context.Context, n artifact.Name, _ bool) ([]string, error) {
			if strings.HasPrefix(n.EdgeType, own) && n != s.n {
				return nil, errors.New("unreadable")
			}
			return nil, nil
		}
		for range 200 {
			_, err := s.Sweep(s.ctx(), audit.Origin{}, uses)
			expect.Error(t, err, "unreadable", "the sweep")
		}
		r := expect.Value(s.Row(s.ctx(), s.n))(t)
		expect.Equal(t, r.State, artifact.Removed, "the last one")
	})
}

// TestSweep_OfWhatIsUsedAgain_BringsItBack: boxes went on to download it meanwhile.
func TestSweep_OfWhatIsUsedAgain_BringsItBack(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		s.keep(t)
		expect.OK(t, s.Delete(s.ctx(), audit.Origin{}, s.n, s.uses))
		url := "https://elsewhere.example/1.0.0" // the same bytes
		_, err := publication.NewStore(s.db).Publish(s.ctx(), audit.Origin{}, release.Publication{EdgeType: s.n.EdgeType, Channel: "stable", CurrentVersion: "1.0.0",
			SHA256: s.n.SHA256, ArtifactURL: url}, input.Preconditions{})
		expect.OK(t, err)
		s.ahead.Store(int64(8 * 24 * time.Hour))
		expect.OK(t, s.sweep(t))
		a := expect.Value(s.Get(s.ctx(), s.n))(t)
		expect.Equal(t, a.State, artifact.Kept, "the state")
		expect.Equal(t, problem.Has(s.Delete(s.ctx(), audit.Origin{}, s.n, s.uses), problem.ArtifactInUse), true, "deleted again")
	})
}

// TestAsk_ForBytesThatWereLost_AsksForThemAgain, at the same address: as after a restore of the tables.
func TestAsk_ForBytesThatWereLost_AsksForThemAgain(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		s.keep(t)
		before := expect.Value(s.Get(s.ctx(), s.n))(t)
		for _, file := range s.files(t) {
			expect.OK(t, os.Remove(file))
		}
		s.keep(t)
		after := expect.Value(s.Get(s.ctx(), s.n))(t)
		expect.Equal(t, after.URL, before.URL, "the URL")
	})
}

// TestRace_UploadsOfOneDigest_KeepOneObject: in 150 rounds, one of eight uploads is stored.
func TestRace_UploadsOfOneDigest_KeepOneObject(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		edgeType := s.n.EdgeType
		for round := range rounds {
			s.n.EdgeType = fmt.Sprintf("%s-%d", edgeType, round)
			statuses := make([]int, 8)
			errs := make([]error, len(statuses))
			var all sync.WaitGroup
			for i := range statuses {
				all.Go(func() {
					asked, err := s.ask()
					if err == nil && asked.Upload != nil {
						statuses[i], err = s.send(asked.Upload, content, nil)
					}
					_, failed := s.Finish(s.ctx(), audit.Origin{}, s.n)
					errs[i] = errors.Join(err, failed)
				})
			}
			all.Wait()
			expect.OK(t, errors.Join(errs...))
			stored := 0
			for _, status := range statuses {
				if status == http.StatusOK {
					stored++
				} else if status != 0 && status != http.StatusPreconditionFailed {
					t.Fatalf("the store answers %d", status)
				}
			}
			expect.Equal(t, []int{stored, len(s.files(t))}, []int{1, round + 1}, "uploads that were stored, and objects")
		}
	})
}

const rounds = 150

// TestRace_UploadDeletePublish_NeverPublishWithoutBytes: whatever wins, a channel's artifact is kept and has its bytes, also
// once a sweep has removed what was deleted.
func TestRace_UploadDeletePublish_NeverPublishWithoutBytes(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		edgeType := s.n.EdgeType
		published := 0
		for round := range rounds {
			s.ahead.Store(int64(round) * int64(9*24*time.Hour))
			s.n.EdgeType = fmt.Sprintf("%s-%d", edgeType, round)
			if round%2 == 0 {
				s.keep(t)
			}
			var all sync.WaitGroup
			var made, deleted, swept error
			all.Go(func() {
				if asked, err := s.ask(); err == nil && asked.Upload != nil {
					_, _ = s.send(asked.Upload, content, nil)
				}
				_, _ = s.Finish(s.ctx(), audit.Origin{}, s.n)
			})
			all.Go(func() { deleted = s.Delete(s.ctx(), audit.Origin{}, s.n, s.uses) })
			all.Go(func() { made = s.publish() })
			all.Wait()
			s.ahead.Add(int64(8 * 24 * time.Hour))
			all.Go(func() { swept = s.sweep(t) })
			all.Go(func() {
				if made != nil {
					made = s.publish()
				}
			})
			all.Wait()
			expect.Must(t, swept == nil, "deleted with %v, swept with %v", deleted, swept)
			s.bytesOfChannel(t, made, &published)
		}
		expect.That(t, published != 0, "no publication won")
	})
}

// bytesOfChannel checks that the channel's artifact can be downloaded, if a publication was made.
func (s *shelf) bytesOfChannel(t *testing.T, made error, published *int) {
	t.Helper()
	if made != nil && !problem.Has(made, problem.ArtifactNotKept) && !problem.Has(made, problem.Conflict) {
		t.Fatal(made)
	}
	row := expect.Value(release.NewStore(s.db).Row(s.ctx(), s.n.EdgeType, "stable"))(t)
	if expect.Equal(t, row.Revision > 0, made == nil, "%v: there is a channel", made); made != nil {
		return
	}
	*published++
	res := expect.Value(http.Get(row.ArtifactURL))(t)
	defer res.Body.Close()
	bytes := expect.Value(io.ReadAll(res.Body))(t)
	expect.Equal(t, []any{res.StatusCode, string(bytes)}, []any{http.StatusOK, content}, "the channel's artifact")
}

// TestAsk_Program_GetsSoManyUploadsADay: artifacts and bytes are bounded, also for calls at once. A repeated wish costs nothing,
// the next day begins anew, and a platform owner is not bounded.
func TestAsk_Program_GetsSoManyUploadsADay(t *testing.T) {
	eachShelf(t, func(t *testing.T, s *shelf) {
		at := time.Now().Truncate(24 * time.Hour).Add(26 * time.Hour) // two in the morning
		s.ahead.Store(int64(time.Until(at)))
		program := func(name string) auth.Principal {
			return auth.Principal{Issuer: "https://ci.example", UserID: name + s.n.SHA256, Roles: []auth.Role{auth.Program}}
		}
		ask := func(by auth.Principal, n int, size int64) error {
			sum := sha256.Sum256(fmt.Append(nil, by.UserID, n))
			_, err := s.Ask(s.ctx(), by, audit.Origin{}, artifact.Wish{Name: artifact.Name{EdgeType: s.n.EdgeType, SHA256: hex.EncodeToString(sum[:])}, SizeBytes: size, Filename: "image.swu"})
			return err
		}
		many, large := program("many"), program("large")
		var granted, refused atomic.Int64
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for n := range 30 {
					if err := ask(many, 30*worker+n, 1); err == nil {
						granted.Add(1)
					} else if problem.Has(err, problem.RateLimited) {
						refused.Add(1)
					}
				}
			})
		}
		group.Wait()
		expect.Equal(t, []int64{granted.Load(), refused.Load()}, []int64{100, 20}, "artifacts of 1 byte, granted and refused")
		for n := range 20 {
			expect.OK(t, ask(large, n, artifact.Most))
		}
		expect.OK(t, ask(large, 0, artifact.Most)) // again
		expect.That(t, problem.Has(ask(large, 20, artifact.Most), problem.RateLimited), "more than 100 GiB")
		expect.OK(t, ask(auth.Principal{UserID: "olga", Roles: []auth.Role{auth.PlatformOwner}}, 21, artifact.Most))
		s.ahead.Add(int64(24 * time.Hour))
		expect.OK(t, ask(large, 20, artifact.Most))
	})
}
