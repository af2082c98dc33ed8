package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/platform/setting"
)

// bytesMissing lists the artifacts whose bytes are not in the bucket; without a bucket, none.
func bytesMissing(ctx context.Context, bucket string, all []artifact.Row) (missing []artifact.Row, err error) {
	if bucket == "" {
		return nil, nil
	}
	address := "https://" + bucket + ".s3." + os.Getenv("AWS_REGION") + ".amazonaws.com"
	if other := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")); other != "" {
		address = other + "/" + bucket
	}
	for _, name := range artifact.Settings { // nothing is downloaded
		if err := os.Setenv(string(name), address); err != nil {
			return nil, err
		}
	}
	r := setting.NewValues(artifact.Settings...)
	store := artifact.ReadBucket(r, time.Now, io.Discard)
	if err := r.Err(); err != nil {
		return nil, err
	}
	for _, one := range all {
		there, err := store.Has(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("look for %s in %s: %w", one.Object(), bucket, err)
		}
		if !there {
			missing = append(missing, one)
		}
	}
	return missing, nil
}

// tellMissing names the bytes that must be brought back before boxes are told of them.
func tellMissing(out io.Writer, missing []artifact.Row) error {
	for _, one := range missing {
		fmt.Fprintf(out, "MISSING: the bytes of %s, %s\n", one.ID, one.Object())
	}
	if len(missing) > 0 {
		return fmt.Errorf("the bytes of %d artifacts are missing; bring them back before the deploy, see infra/recovery.md", len(missing))
	}
	return nil
}
