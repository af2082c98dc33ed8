package main

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// baseImage is the image that SAM builds its containers from.
const baseImage = "public.ecr.aws/lambda/provided:"

// pullTimeout bounds the pull of the base image, some 50 MB.
const pullTimeout = 5 * time.Minute

// ensureImage provides the base image: an existing one, otherwise AWS's, otherwise a substitute. The functions are
// static binaries without dependencies, so any image with the three programs that SAM calls during its build works.
func (t tools) ensureImage(ctx context.Context, tag string) error {
	image := baseImage + tag
	if exec.CommandContext(ctx, t.docker, "image", "inspect", image).Run() == nil {
		return nil
	}
	say("pulling %s", image)
	limited, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	out, err := exec.CommandContext(limited, t.docker, "pull", "--quiet", image).CombinedOutput()
	if err == nil {
		return nil
	}
	say("it cannot be pulled (%s); making a substitute from busybox. To remove it: docker image rm %s", firstLine(out), image)
	box, err := staticBusybox()
	if err != nil {
		return err
	}
	archive, err := standIn(box)
	if err != nil {
		return err
	}
	// AWS's image also sets this; the function docs looks there for its files.
	load := exec.CommandContext(ctx, t.docker, "import", "--change", "ENV LAMBDA_TASK_ROOT=/var/task", "-", image)
	load.Stdin = bytes.NewReader(archive)
	if out, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("make a stand-in for %s: %w: %s", image, err, firstLine(out))
	}
	return nil
}

// staticBusybox reads a busybox that needs no libraries.
func staticBusybox() ([]byte, error) {
	const how = "install busybox as a single static program (Debian: apt-get install busybox-static)"
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, &missingError{"there is no busybox", how}
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil, &missingError{path + " needs libraries", how}
		}
	}
	return os.ReadFile(path)
}

// standIn is the file system of the stand-in.
func standIn(busybox []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range []string{"bin/", "tmp/", "var/", "var/task/", "var/runtime/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(busybox))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(busybox); err != nil {
		return nil, err
	}
	for _, program := range []string{"sh", "mv", "chmod"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + program, Linkname: "busybox"}); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
