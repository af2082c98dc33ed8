package artifact

import (
	"context"
	"crypto/md5"  //nolint:gosec // clients of hawkBit's DDI compare it; it protects nothing
	"crypto/sha1" //nolint:gosec // like MD5
	"encoding"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Reading is how far the service has read the bytes of an artifact, with the states of both digests in hexadecimal digits.
type Reading struct {
	Bytes int64  `json:"bytes"`
	SHA1  string `json:"sha1"`
	MD5   string `json:"md5"`
}

// A digest can be stored before its end, as those of the standard library can.
type digest interface {
	hash.Hash
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

func resume(d hash.Hash, state string) (digest, error) {
	so, err := hex.DecodeString(state)
	if err == nil && state != "" {
		err = d.(digest).UnmarshalBinary(so)
	}
	return d.(digest), err
}

func pause(d digest) (string, error) {
	state, err := d.MarshalBinary()
	return hex.EncodeToString(state), err
}

// read returns a waiting row with the SHA-1 and the MD5 of bytes that have arrived. The bucket computes neither, since it checks the
// SHA-256, and nobody's word for them holds: it would be true for every release with these bytes. A call reads for some
// seconds; if that is not enough, it stores how far it came and returns ARTIFACT_NOT_KEPT, as it does without bytes.
func (s *Store) read(ctx context.Context, r Row) (Row, error) {
	there, err := s.bucket.Has(ctx, r)
	switch {
	case err != nil:
		return r, err
	case !there:
		return r, r.Used(r.name())
	case r.SHA1 != "": // the bytes were lost, and sent again
		return r, nil
	}
	was := r
	if err = s.readOn(ctx, &r); err == nil && r.SHA1 == "" {
		err = s.db.Commit(ctx, dynamo.TransactPut(ResourceType, dynamo.Releases, was, r, unchanged(was)))
	}
	if err == nil && r.SHA1 == "" {
		err = problem.New(problem.ArtifactNotKept, "The service reads the bytes to compute their SHA-1 and MD5: %d of %d so far. Finish the upload again to go on.",
			r.Reading.Bytes, r.SizeBytes).After(time.Second)
	}
	return r, err
}

// readOn reads on where the row's reading ends.
func (s *Store) readOn(ctx context.Context, r *Row) error {
	var so Reading
	if r.Reading != nil {
		so = *r.Reading
	}
	one, err1 := resume(sha1.New(), so.SHA1) //nolint:gosec // see above
	two, err2 := resume(md5.New(), so.MD5)   //nolint:gosec // see above
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	n, err := s.bucket.Read(ctx, *r, so.Bytes, io.MultiWriter(one, two))
	if so.Bytes += n; err != nil {
		return err
	}
	if so.Bytes == r.SizeBytes {
		r.SHA1, r.MD5 = hex.EncodeToString(one.Sum(nil)), hex.EncodeToString(two.Sum(nil))
		return nil
	}
	so.SHA1, err1 = pause(one)
	so.MD5, err2 = pause(two)
	r.Reading = &so
	return errors.Join(err1, err2)
}
