package boxes

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wavegate/scripts/operator/api"
	"wavegate/scripts/operator/login"
	"wavegate/scripts/operator/run"
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/platform/input"
)

// enrolScheme is the prefix of a code that is sent as a token.
const enrolScheme = "wavegate-enrol:"

func enrolRedeem(r *run.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "redeem --url URL --code-file FILE --id BOX --token-file FILE",
		Short: "On the box: make its token, and register it with the code",
		Long: "Runs on the box. Makes the token of the box, if its file does not exist, and registers the box with the code and the " +
			"SHA-256 of the token. It can be repeated: the file is on the disk before the service is called, and is never replaced. " +
			"If the id is not listed, the command prints the fingerprint with which a person accepts the box, and exits with 3. " +
			"With --wait, it tries again until the box is accepted.",
		Example: "wavegate enrol redeem --url https://api.example.com --id SN-000017 \\\n    --code-file /etc/wavegate/code --token-file /data/wavegate.token",
	}
	f := cmd.Flags()
	address := f.String("url", "", "the address of the `service`; by default, WAVEGATE_URL")
	codeFile := f.String("code-file", "", "the `file` with the code")
	id := f.String("id", "", "the id of the `box`")
	tokenFile := f.String("token-file", "", "the `file` of the token, where it survives updates")
	keepsTrying := f.Bool("wait", false, "wait until a person accepts the box")
	every := f.Duration("every", time.Minute, "how often it tries again with --wait")
	return r.Local(cmd, func(ctx context.Context, _ []string) error {
		if *codeFile == "" || *tokenFile == "" || !input.EdgeID.Accepts(*id) {
			return run.Fail(run.Misused, "give --code-file, --token-file and --id, which must be %s", input.EdgeID.Says)
		}
		service, err := login.Service(cmp.Or(*address, r.Getenv("WAVEGATE_URL")))
		if err != nil {
			return run.Fail(run.Misused, "--url: %w", err)
		}
		code, err := os.ReadFile(*codeFile)
		if err != nil {
			return run.Fail(run.Misused, "%w", err)
		}
		bearer := enrolScheme + strings.TrimPrefix(strings.TrimSpace(string(code)), enrolScheme)
		c := &api.Client{HTTP: r.HTTP, URL: service, Patience: max(r.Patience, run.Lengthy),
			Token: func(context.Context, bool) (string, error) { return bearer, nil }}
		t, _, err := tokenfile.Make(r.Disk, *tokenFile, *id)
		if err != nil {
			return err
		}
		for {
			if waits, err := redeemed(ctx, r, c, waitingBox{*id, t.SHA256}, *keepsTrying); err != nil || !waits {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(*every + rand.N(*every/10+1)):
			}
		}
	})
}

// redeemed redeems the code for a box, and reports whether it waits for a person, which is a failure unless it keeps
// trying.
func redeemed(ctx context.Context, r *run.Run, c *api.Client, box waitingBox, keepsTrying bool) (waits bool, err error) {
	answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: enrolments + "/redemptions", Repeatable: true, Body: box})
	if run.CodeOf(err) == run.SignIn {
		return false, fmt.Errorf("%w: the code is wrong or no longer valid; boxes that it has registered can still poll", err)
	}
	if err != nil {
		return false, err
	}
	waiting := fmt.Sprintf("%s waits until a person accepts it; its fingerprint is %s", box.EdgeID, box.TokenSHA256)
	if waits = answer.Status == http.StatusAccepted; waits && keepsTrying {
		r.Note("wavegate: %s", waiting)
		return true, nil
	}
	if r.JSON {
		r.Show(answer.Body)
	}
	if waits {
		return true, run.Fail(run.Otherwise, "%s", waiting)
	}
	r.Say("%s is registered", box.EdgeID)
	return false, nil
}
