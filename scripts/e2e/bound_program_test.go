package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestProgram_WhatAnotherChannelCarries_CannotBeChangedByIt: a program may publish on canary alone. The owner's version and
// its artifact are on stable, so whoever steals the program's token cannot say anything else about them.
func TestProgram_WhatAnotherChannelCarries_CannotBeChangedByIt(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	program := w.As(t, harness.Program, "", auth.Program)
	const image, notes = file("the bytes of 1.0.0"), file("the notes of 1.0.0")
	keep(t, owner, image)
	keep(t, owner, notes)
	said := fmt.Sprintf(`{"currentVersion":"1.0.0","sha256":%q,"documents":[{"kind":"notes","sha256":%q}]}`, image.sum(), notes.sum())
	owner.Put(t, channelPath("gateway-x", "stable"), said).Is(t, http.StatusCreated)
	canary := channelPath("gateway-x", "canary")
	with := func(more string) string { return strings.TrimSuffix(said, "}") + more + "}" }

	state := func() string {
		v := owner.Get(t, channelPath("gateway-x", "stable"))
		return string(v.Body) + string(owner.Get(t, image.path()).Body) + string(owner.Get(t, notes.path()).Body)
	}
	before := state()
	for name, c := range map[string]struct {
		body string
		code problem.Code
	}{
		"a SHA-1":         {with(`,"sha1":"` + strings.Repeat("1", 40) + `"`), problem.Conflict},
		"an MD5":          {with(`,"md5":"` + strings.Repeat("1", 32) + `"`), problem.Conflict},
		"a size":          {with(`,"sizeBytes":1`), problem.Conflict},
		"a part":          {with(`,"part":"app"`), problem.Forbidden},
		"documents":       {strings.Replace(said, `"notes"`, `"sbom"`, 1), problem.Forbidden},
		"another place":   {with(`,"artifactUrl":"https://releases.example.com/1.0.0.img"`), problem.Forbidden},
		"another address": {with(`,"artifactUrl":"https://releases.example.com/1.0.0.img","sha1":"` + strings.Repeat("1", 40) + `"`), problem.ReleaseImmutable},
	} {
		t.Run(name, func(t *testing.T) {
			program.Put(t, canary, c.body).Refused(t, c.code)
			owner.Get(t, canary).Refused(t, problem.NotFound)
			expect.Equal(t, state(), before, "what stable carries is")
		})
	}
	for name, artifact := range map[string]file{"the bytes": image, "the notes": notes} {
		t.Run("an MD5 of "+name, func(t *testing.T) {
			program.Put(t, artifact.path(), strings.Replace(artifact.wish(), "{", `{"md5":"`+strings.Repeat("1", 32)+`",`, 1)).Refused(t, problem.Conflict)
			expect.Equal(t, state(), before, "what stable carries is")
		})
		t.Run("what is known of "+name, func(t *testing.T) {
			program.Put(t, artifact.path(), artifact.wish()).Is(t, http.StatusOK)
			expect.Equal(t, state(), before, "what stable carries is")
		})
	}

	// What it says of a version of its own channels alone, it may say again; and what is known of others.
	program.Put(t, canary, release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	program.Put(t, canary, strings.TrimSuffix(release("1.1.0", digest("b")), "}")+`,"part":"app"}`).Is(t, http.StatusNoContent)
	program.Put(t, canary, said).Is(t, http.StatusNoContent)
	owner.Get(t, canary).Has(t, `{"currentVersion":"1.0.0"}`)
	expect.Equal(t, strings.Contains(state(), `"documents":[{"kind":"notes"`), true, "the documents of stable stay")

	// It cannot change the size of what waits for its bytes, whether stable carries that or nobody does.
	const late = file("the bytes of 2.0.0")
	program.Put(t, late.path(), late.wish()).Is(t, http.StatusCreated)
	longer := strings.Replace(late.wish(), ":", ":1", 1)
	program.Put(t, late.path(), longer).Refused(t, problem.Forbidden)
	owner.Put(t, channelPath("gateway-x", "stable"), release("2.0.0", late.sum())).Is(t, http.StatusNoContent)
	program.Put(t, late.path(), longer).Refused(t, problem.Forbidden)
}

// TestProgram_SaysWhatItsOwnVersionsContain, and not what those that other channels carry do.
func TestProgram_SaysWhatItsOwnVersionsContain(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	program := w.As(t, harness.Program, "", auth.Program)
	const bill = file("an SBOM")
	keep(t, owner, bill)
	with := func(version, letter string) string {
		return strings.TrimSuffix(release(version, digest(letter)), "}") + fmt.Sprintf(`,"documents":[{"kind":"sbom","sha256":%q}]}`, bill.sum())
	}
	owner.Put(t, channelPath("gateway-x", "stable"), with("1.0.0", "a")).Is(t, http.StatusCreated)
	program.Put(t, channelPath("gateway-x", "canary"), with("1.1.0", "b")).Is(t, http.StatusCreated)
	piece := fmt.Sprintf(`{"sbom":%q,"total":1,"components":[{"purl":"pkg:deb/debian/openssl","componentVersion":"3.0.13-1"}]}`, bill.sum())
	program.Put(t, "/api/ota/releases/gateway-x/1.0.0/components/1", piece).Refused(t, problem.Forbidden)
	program.Put(t, "/api/ota/releases/gateway-x/1.1.0/components/1", piece).Is(t, http.StatusCreated)
	program.Put(t, "/api/ota/releases/gateway-x/1.1.0/components/1", piece).Is(t, http.StatusNoContent)
	owner.Get(t, "/api/ota/components?purl=pkg:deb/debian/openssl").Has(t,
		fmt.Sprintf(`{"items":[{"edgeType":"gateway-x","version":"1.1.0","componentVersion":"3.0.13-1","sbom":%q}]}`, bill.sum()))
}
