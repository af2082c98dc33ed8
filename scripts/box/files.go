package box

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mostDownload is the longest time for a download.
const mostDownload = time.Hour

// file is the path of the download; empty if nothing is kept.
func (c *Client) file() string {
	if c.Folder == "" {
		return ""
	}
	return filepath.Join(c.Folder, "artifact")
}

func (c *Client) memory() string { return filepath.Join(c.Folder, "memory.json") }

// fetch downloads the artifact and checks its digest. It keeps an existing file with the digest.
func (c *Client) fetch(ctx context.Context, m Manifest) error {
	if c.Folder == "" && c.Fetch != nil {
		return c.Fetch(ctx, m, "")
	}
	if sum, err := digest(c.file()); err == nil && strings.EqualFold(sum, m.SHA256) {
		return nil
	}
	get := c.get
	if c.Fetch != nil {
		get = c.Fetch
	}
	if err := get(ctx, m, c.file()); err != nil {
		return err
	}
	sum, err := digest(c.file())
	if err != nil {
		return err
	}
	if !strings.EqualFold(sum, m.SHA256) {
		c.discard()
		return &Failure{Code: "checksum", Err: fmt.Errorf("the artifact has the digest %s", sum)}
	}
	return nil
}

// get downloads the artifact from its URL, without the box's token.
func (c *Client) get(ctx context.Context, m Manifest, file string) error {
	ctx, cancel := context.WithTimeout(ctx, mostDownload)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.ArtifactURL, nil)
	if err != nil {
		return err
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the artifact's host answered %d", res.StatusCode)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	if err = errors.Join(err, f.Sync(), f.Close()); errors.Is(err, syscall.ENOSPC) {
		return &Failure{Code: "space", Err: err}
	}
	return err
}

func digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// discard removes the download. If that fails, the next download overwrites it.
func (c *Client) discard() {
	if c.Folder != "" {
		_ = os.Remove(c.file())
	}
}

// recall reads the box's memory. If it cannot be read, the box starts with an empty one. The service also counts
// attempts, so the box does not try a bad version forever.
func (c *Client) recall() (m Memory) {
	if c.Folder == "" {
		return m
	}
	text, err := os.ReadFile(c.memory())
	if err != nil || json.Unmarshal(text, &m) != nil {
		return Memory{}
	}
	return m
}

// keep writes the box's memory, completely or not at all.
func (c *Client) keep(m Memory) error {
	if c.Folder == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(c.Folder, "memory")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), c.memory())
	}
	if err != nil {
		return fmt.Errorf("what the box remembers: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
