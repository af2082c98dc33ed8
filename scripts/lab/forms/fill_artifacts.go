package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"wavegate/scripts/samples"
	"wavegate/shared/platform/dynamo"
)

// artifacts keeps artifacts of gateway-k, and removes one.
func (w *world) artifacts() {
	const wish = `{"sizeBytes":%d,"sha1":"356a192b7913b04c54574d18c28d46e6395428ab","filename":"image.swu"%s}`
	path := func(name string) string { return "/api/ota/artifacts/gateway-k/" + digest(name) }
	row := func(name string) place { return place{dynamo.Releases, "#artifacts", "gateway-k/" + digest(name)} }
	keep := func(name string) {
		a := w.do(created, "olga", "PUT "+path(name), fmt.Sprintf(wish, len(name), ""))
		if w.err == nil {
			w.done("upload "+name, samples.Upload(a.Body, name))
		}
		w.do(ok, "olga", "PATCH "+path(name), `{"state":"kept"}`)
	}
	w.do(created, "olga", "PUT "+path("waiting"), fmt.Sprintf(wish, 7, ""))
	for _, name := range []string{"image", "notes", "old"} {
		keep(name)
	}
	w.do(ok, "olga", "PUT "+path("image"), fmt.Sprintf(wish, 5, `,"md5":"c4ca4238a0b923820dcc509a6f75849b"`))
	w.do(created, "olga", channel+"gateway-k/stable", fmt.Sprintf(`{"currentVersion":"1.0.0","sha256":%q,"documents":[{"kind":"notes","sha256":%q},`+
		`{"kind":"sbom","url":"https://evidence.example.com/1.0.0.json"}]}`, digest("image"), digest("notes")))
	w.do(done, "olga", "DELETE "+path("old"), "")
	w.do(ok, "olga", "PUT "+path("old"), fmt.Sprintf(wish, 3, ""))
	if files, err := filepath.Glob(filepath.Join(w.Bucket.Folder, "*", "image.swu")); w.err == nil && err == nil {
		for _, file := range files { // as after a restore
			w.done("lose bytes", os.Remove(file))
		}
	}
	w.do(created, "olga", "PUT "+path("notes"), fmt.Sprintf(wish, 5, ""))
	w.do(done, "olga", "DELETE "+path("old"), "")
	w.edit(row("old"), "removeAt", earlier(8*24*time.Hour))
	w.tick() // which has swept in the last hour
	if w.err == nil {
		w.Function("tick").Recycle()
		w.Bucket.Down.Store(true)
	}
	w.tick()
	if w.err == nil {
		w.Bucket.Down.Store(false)
	}
}
