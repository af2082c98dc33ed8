package dynamolocal

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// npm fetches DynamoDB Local from a package that contains it, so that the machine's registry
// settings apply. Its licence forbids redistribution, so it is never committed.
const (
	archivePackage = "amplify-dynamodb-simulator"
	archiveVersion = "2.9.30" // contains DynamoDB Local 1.25.1
	archiveSHA256  = "3503ffac19f183407909fecdacf4db51ab1fdad1da7b2f177016670b2d80e4b9"
	archiveFolder  = "package/emulator/"
)

const howNPM = "Install Node.js 22 or newer (https://nodejs.org), which includes npm."

// fetch returns the directory with DynamoDBLocal.jar and its libraries. Several processes may
// fetch at the same time; the first to finish wins.
func fetch(ctx context.Context, progress io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("dynamolocal: no cache directory: %w", err)
	}
	cache = filepath.Join(cache, "wavegate")
	home := filepath.Join(cache, "dynamodb-local-"+archiveVersion)
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)

	fmt.Fprintf(progress, "fetching DynamoDB Local (npm package %s %s, 54 MB), once\n", archivePackage, archiveVersion)
	archive, err := pack(ctx, work)
	if err != nil {
		return "", err
	}
	unpacked := filepath.Join(work, "unpacked")
	if err := unpack(archive, unpacked); err != nil {
		return "", err
	}
	if err := os.Rename(unpacked, home); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Stat(home); there != nil {
			return "", err
		}
	}
	return home, nil
}

func pack(ctx context.Context, dir string) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", &MissingError{"DynamoDB Local needs npm to be fetched once, and npm is missing", howNPM}
	}
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", archivePackage+"@"+archiveVersion)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("dynamolocal: npm pack %s@%s: %w\n%s", archivePackage, archiveVersion, err, out)
	}
	return filepath.Join(dir, archivePackage+"-"+archiveVersion+".tgz"), nil
}

// unpack checks the archive against its pinned hash and extracts what is needed.
func unpack(archive, to string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != archiveSHA256 {
		return fmt.Errorf("dynamolocal: %s has the SHA-256 %s, not %s: it is not used", filepath.Base(archive), got, archiveSHA256)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for files := tar.NewReader(zipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, wanted := strings.CutPrefix(h.Name, archiveFolder)
		if !wanted || h.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(filepath.Join(to, filepath.FromSlash(name)), files); err != nil {
			return err
		}
	}
}

func writeFile(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
