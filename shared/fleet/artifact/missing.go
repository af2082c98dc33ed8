package artifact

import "context"

// Missing reports whether the bucket lacks the bytes of an artifact, as after a restore of the tables.
func (b *Bucket) Missing(ctx context.Context, r Row) (bool, error) {
	there, err := b.has(ctx, r)
	return !there, err
}

// Sign signs an upload, for rehearsals.
func (b *Bucket) Sign(ctx context.Context, r Row) (*Upload, error) { return b.upload(ctx, r) }

// Remove removes the bytes of an artifact, for rehearsals.
func (b *Bucket) Remove(ctx context.Context, r Row) error { return b.remove(ctx, r) }
