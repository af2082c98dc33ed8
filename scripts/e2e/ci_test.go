package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// A job releases firmware, as in infra/ci: its commands, and the variables that its CI sets.
type job struct {
	script string
	env    []string
}

// githubJob is the step of the workflow, on a machine with GitHub's token service.
func githubJob(t *testing.T, token string) job {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	readYAML(t, "release.github.yml", &workflow)
	steps := workflow.Jobs["release"].Steps
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "bearer of-the-run" || r.URL.Query().Get("audience") != devissuer.ProgramsAudience {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprintf(w, `{"count":1,"value":%q}`, token)
	}))
	t.Cleanup(tokens.Close)
	return job{steps[len(steps)-1].Run, []string{
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=of-the-run", "ACTIONS_ID_TOKEN_REQUEST_URL=" + tokens.URL +
			"/token?api-version=2.0", "AUDIENCE=" + devissuer.ProgramsAudience,
		"GITHUB_RUN_ID=9012345678",
	}}
}

// gitlabJob is the job of the template. GitLab puts its token into the environment.
func gitlabJob(t *testing.T, token string) job {
	t.Helper()
	var template map[string]struct{ Script []string }
	readYAML(t, "release.gitlab.yml", &template)
	return job{strings.Join(template["release"].Script, "\n"), []string{"WAVEGATE_TOKEN=" + token, "CI_PIPELINE_ID=7012345"}}
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "infra", "ci", file))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	expect.OK(t, err)
}

// run runs the job's commands like its CI, in a folder with an image.
func (j job) run(t *testing.T, url string) (string, error) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-e")
	shell.Dir = t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(shell.Dir, "image.img"), []byte("the image"), 0o600))
	shell.Stdin = strings.NewReader(j.script)
	shell.Env = append(append(os.Environ(), j.env...), "WAVEGATE="+url, "VERSION=1.4.17",
		"ARTIFACT=https://releases.example.com/gateway-x/1.4.17.img")
	out, err := shell.CombinedOutput()
	return string(out), err
}

// Claims like those of GitHub and GitLab for a run of the branch main.
var (
	githubClaims = devissuer.Claims{User: harness.Program, Roles: []string{string(auth.Program)}, More: map[string]any{
		"ref": "refs/heads/main", "repository": "acme/firmware", "repository_owner": "acme", "run_id": "9012345678",
		"event_name": "push", "roles": nil,
	}}
	gitlabClaims = devissuer.Claims{User: "project_path:acme/firmware:ref_type:branch:ref:main",
		Roles: []string{string(auth.Program)}, More: map[string]any{
			"project_path": "acme/firmware", "namespace_path": "acme", "ref": "main", "ref_type": "branch",
			"pipeline_id": "7012345", "user_login": "eric", "roles": nil,
		}}
)

// TestCI_Jobs_PublishOnCanary_AndStartOnStable, and a repeated job has nothing to do.
func TestCI_Jobs_PublishOnCanary_AndStartOnStable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of     func(*testing.T, string) job
		claims devissuer.Claims
	}{"GitHub": {githubJob, githubClaims}, "GitLab": {gitlabJob, gitlabClaims}} {
		t.Run(name, func(t *testing.T) {
			w := harness.New(t)
			w.Owner(t).Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
			token := expect.Value(w.Target.Token(c.claims))(t)
			for range 2 {
				if out, err := c.of(t, token).run(t, w.Target.URL); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			expect.Equal(t, w.Owner(t).Get(t, channelPath("gateway-x", "canary")).Object(t)["currentVersion"], "1.4.17", "canary has")
			rollouts := itemsOf(t, w, "/api/ota/rollouts?edgeType=gateway-x&channel=stable")
			if len(rollouts) != 1 || rollouts[0]["targetVersion"] != "1.4.17" || rollouts[0]["guard"] != "act" {
				t.Errorf("the rollouts are %v", rollouts)
			}
			var actors []any
			for _, event := range itemsOf(t, w, "/api/audit-events") {
				actor, _ := event["actor"].(map[string]any)
				actors = append(actors, actor["userId"])
			}
			expect.Equal(t, strings.Count(fmt.Sprint(actors), c.claims.User), 3, "two publications and one start: the audit trail names %v", actors)
		})
	}
}

func itemsOf(t *testing.T, w *harness.World, path string) []map[string]any {
	t.Helper()
	var page struct{ Items []map[string]any }
	w.Owner(t).Get(t, path).Is(t, http.StatusOK).Into(t, &page)
	return page.Items
}

// TestCI_AProgram_MayNothingElse: each refusal writes nothing.
func TestCI_AProgram_MayNothingElse(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	owner, program := w.Owner(t), w.As(t, harness.Program, "", auth.Program)
	rollout := start(t, owner, "gateway-x")
	before := w.State(t)
	for name, a := range map[string]harness.Answer{
		"publish where it may start": program.Put(t, channelPath("gateway-x", "stable"), release("1.2.0", digest("c"))),
		"publish elsewhere":          program.Put(t, channelPath("camera-y", "canary"), release("1.2.0", digest("c"))),
		"start where it may publish": program.Post(t, "/api/ota/rollouts", plan("gateway-x", "canary", "1.0.0")),
		"start without a guard": program.Post(t, "/api/ota/rollouts",
			`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0","policy":null}`),
		"start with a policy": program.Post(t, "/api/ota/rollouts",
			`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0","policy":{}}`),
		"start over a freeze": program.Post(t, "/api/ota/rollouts",
			`{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0","overrideReason":"it is urgent"}`),
		"publish over a freeze": program.Put(t, channelPath("gateway-x", "canary"),
			strings.Replace(release("1.2.0", digest("c")), "{", `{"overrideReason":"it is urgent",`, 1)),
		"promote":                     program.Patch(t, rollout, `{"staged_percent":10}`),
		"halt":                        program.Patch(t, rollout, `{"state":"halted"}`),
		"read a rollout":              program.Get(t, rollout),
		"end a freeze":                program.Do(t, http.MethodDelete, "/api/ota/freeze", ""),
		"give itself a larger limit":  program.Put(t, "/api/rate-limits/users/ci", `{"limit":9000,"reason":"more"}`),
		"register a box":              program.Put(t, "/api/edges/edge-9", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`),
		"read the trail of the fleet": program.Get(t, "/api/audit-events"),
	} {
		expect.Equal(t, a.Status, http.StatusForbidden, "%s: %s is answered with", name, a.Body)
	}
	expect.Equal(t, w.State(t), before, "the stored data is")
}

// TestCI_AProgram_EndsNoRolloutOfSomebodyElse_UnlessTheSettingsSaySo, and only with a reason. People need none.
func TestCI_AProgram_EndsNoRolloutOfSomebodyElse_UnlessTheSettingsSaySo(t *testing.T) {
	w := harness.New(t, func(o *service.Options) {
		setting := token.Setting + "=" + o.Issuers.TrustingSetting()
		o.Environment = func(function string) []string {
			if function == operations.Authorizer {
				return []string{setting}
			}
			return nil
		}
	})
	owner, program, trusted := w.Owner(t), w.As(t, harness.Program, "", auth.Program), w.As(t, devissuer.TrustedProgram, "", auth.Program)
	canary := channelPath("gateway-x", "canary")
	publication := func(version, host, reason string) string {
		body := fmt.Sprintf(`{"currentVersion":%q,"artifactUrl":"https://%s/%s","sha256":%q`, version, host, version, digest("c"))
		if reason != "" {
			body += fmt.Sprintf(`,"overrideReason":%q`, reason)
		}
		return body + "}"
	}
	owner.Put(t, canary, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "stable"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	rollout := owner.Post(t, rollouts, plan("gateway-x", "canary", "1.1.0")).Made(t)
	before := w.State(t)
	program.Put(t, canary, publication("1.2.0", "a.example", "")).Refused(t, problem.RolloutActive)
	program.Put(t, canary, publication("1.2.0", "a.example", "urgent")).Refused(t, problem.Forbidden)
	trusted.Put(t, canary, publication("1.2.0", devissuer.ArtifactHost, "")).Refused(t, problem.RolloutActive)
	trusted.Put(t, canary, publication("1.2.0", "evil.example", "urgent")).Refused(t, problem.Forbidden)
	trusted.Put(t, canary, publication("1.2.0", devissuer.ArtifactHost+".evil.example", "urgent")).Refused(t, problem.Forbidden)
	expect.Equal(t, w.State(t), before, "the stored data is")
	owner.Put(t, "/api/ota/freeze", fmt.Sprintf(`{"reason":"holidays","until":%q}`,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339))).Is(t, http.StatusCreated)
	trusted.Put(t, canary, publication("1.2.0", devissuer.ArtifactHost, "urgent")).Refused(t, problem.Frozen)
	owner.Do(t, http.MethodDelete, "/api/ota/freeze", "").Is(t, http.StatusNoContent)
	trusted.Put(t, canary, publication("1.2.0", strings.ToUpper(devissuer.ArtifactHost)+":443", "the canaries burn")).
		Is(t, http.StatusNoContent)
	owner.Get(t, rollout).Has(t, `{"status":"halted","endedBy":"publication"}`)
	program.Put(t, canary, publication("1.3.0", "a.example", "")).Is(t, http.StatusNoContent)
	rollout = owner.Post(t, rollouts, plan("gateway-x", "canary", "1.1.0")).Made(t)
	owner.Put(t, canary, publication("1.4.0", "a.example", "")).Is(t, http.StatusNoContent)
	owner.Get(t, rollout).Has(t, `{"status":"halted"}`)
}
