package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestSWUpdate_DoesNotBoot_IsAFailedAttempt: without a boot state, SWUpdate begins the same action again on the old version.
func TestSWUpdate_DoesNotBoot_IsAFailedAttempt(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusCreated)
		token := enrol(t, owner, "box-1")
		first := d.swupdate(t, w, "box-1", token, "1.0.0")
		first.installs(t)
		first.stop()
		d.swupdate(t, w, "box-1", token, "1.0.0")
		reportsAs(t, owner, "box-1", "1.1.0", report.Failed)
		if known := why(t, owner, "box-1"); known.Report.Code != report.CodeBoot || known.Running != "1.0.0" {
			t.Errorf("known as %+v, its report as %+v", known, known.Report)
		}
	})
}

// TestSWUpdate_BootsWithoutABootState_IsInstalled: it is asked before it is told the same action again.
func TestSWUpdate_BootsWithoutABootState_IsInstalled(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusCreated)
		token := enrol(t, owner, "box-1")
		first := d.swupdate(t, w, "box-1", token, "1.0.0")
		first.installs(t)
		first.stop()
		time.Sleep(3 * time.Second) // the reboot takes longer than two polls
		d.swupdate(t, w, "box-1", token, "1.1.0")
		reportsAs(t, owner, "box-1", "1.1.0", report.Installed)
		r := why(t, owner, "box-1").Report
		expect.That(t, r.Attempts == 0 && r.Code == "", "the report is %+v", r)
	})
}

// TestSWUpdate_WrongChecksum_IsAFailedAttempt: the image is signed, but it is not the one that was published. SWUpdate
// compares the checksum after it has installed the image.
func TestSWUpdate_WrongChecksum_IsAFailedAttempt(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		publication := d.image(t, "1.1.0", false)
		sum := between(t, publication, `"sha1":"`, `"`)
		owner.Put(t, channel, strings.Replace(publication, sum, strings.Repeat("1", len(sum)), 1)).Is(t, http.StatusCreated)
		b := d.swupdate(t, w, "box-1", enrol(t, owner, "box-1"), "1.0.0")
		reportsAs(t, owner, "box-1", "1.1.0", report.Failed)
		expect.That(t, b.says("Checksum does not match") && d.installed("1.1.0"),
			"it failed for another reason, or did not install the image first")
		// As with a broken image, SWUpdate's report does not always include the cause.
		want := report.CodeOther
		r := why(t, owner, "box-1").Report
		if strings.Contains(r.Detail, "Checksum does not match") {
			want = report.CodeChecksum
		}
		expect.Equal(t, r.Code, want, "the code of %q is", r.Detail)
	})
}

// TestSWUpdate_TokenTakenBack_IsRefused, and a new token is taken.
func TestSWUpdate_TokenTakenBack_IsRefused(t *testing.T) {
	expect.Full(t)
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		token := enrol(t, owner, "box-1")
		b := d.swupdate(t, w, "box-1", token, "1.0.0")
		runs(t, owner, "box-1", "1.0.0")
		owner.Do(t, http.MethodDelete, "/api/edges/box-1/token", "").Is(t, http.StatusNoContent)
		owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusNoContent)
		expect.Until(t, "its polls are refused", func() bool { return b.says("401") })
		b.stop()
		token = owner.SetToken(t, "/api/edges/box-1/token")
		again := d.swupdate(t, w, "box-1", token, "1.0.0")
		again.installs(t)
	})
}

// TestSWUpdate_TooManyCallsAndTheServiceDown_FollowsAfterThat.
func TestSWUpdate_TooManyCallsAndTheServiceDown_FollowsAfterThat(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	withDepot(t, func(d *depot, w *harness.World, owner *harness.Caller) {
		owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		service := expect.Value(url.Parse(w.Target.URL))(t)
		var refuses, down atomic.Bool
		var refused, hungUp atomic.Int64
		forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(service); r.Out.Host = r.In.Host }}
		front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case down.Load():
				hungUp.Add(1)
				panic(http.ErrAbortHandler)
			case refuses.Load():
				refused.Add(1)
				rw.Header().Set("Retry-After", "1")
				rw.WriteHeader(http.StatusTooManyRequests)
			default:
				forward.ServeHTTP(rw, r)
			}
		}))
		t.Cleanup(front.Close)
		b := d.swupdate(t, w, "box-1", enrol(t, owner, "box-1"), "1.0.0", "-u", front.URL+"/api/ddi")
		runs(t, owner, "box-1", "1.0.0")
		refuses.Store(true)
		owner.Put(t, channel, d.image(t, "1.1.0", false)).Is(t, http.StatusNoContent)
		expect.Until(t, "polls are refused", func() bool { return refused.Load() > 3 })
		down.Store(true)
		time.Sleep(time.Minute)
		expect.That(t, hungUp.Load() != 0, "nobody polled while the service was down")
		refuses.Store(false)
		down.Store(false)
		b.installs(t)
		known := why(t, owner, "box-1")
		expect.That(t, at(known, "1.1.0", report.Working), "known as %+v, its report as %+v", known, known.Report)
	})
}
