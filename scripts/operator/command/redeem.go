package command

import (
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
	"wavegate/scripts/operator/tokenfile"
	"wavegate/shared/platform/input"
)

// enrolScheme is the prefix of a code that is sent as a token.
const enrolScheme = "wavegate-enrol:"

func (a *app) enrolRedeem() *cobra.Command {
	var address, codeFile, id, tokenFile string
	var waits bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "redeem --url URL --code-file FILE --id BOX --token-file FILE", Short: "On the box: make its token, and register it with the code",
		Long: "Runs on the box. Makes the token of the box, if its file does not exist, and registers the box with the code and the\n" +
			"SHA-256 of the token. It can be repeated: the file is on the disk before the service is called, and is never replaced.\n" +
			"If the id is not listed, the command prints the fingerprint with which a person accepts the box, and exits with 3.\n" +
			"With --wait, it tries again until the box is accepted.",
		Example: "  wavegate enrol redeem --url https://api.example.com --code-file /etc/wavegate/code --id SN-000017 --token-file /data/wavegate.token",
		Args:    cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			if codeFile == "" || tokenFile == "" || !input.EdgeID.Accepts(id) {
				return fail(Misused, "give --code-file, --token-file and --id, which must be %s", input.EdgeID.Says)
			}
			if address == "" {
				address = a.Getenv("WAVEGATE_URL")
			}
			service, err := login.Service(address)
			if err != nil {
				return fail(Misused, "--url: %w", err)
			}
			code, err := os.ReadFile(codeFile)
			if err != nil {
				return fail(Misused, "%w", err)
			}
			bearer := enrolScheme + strings.TrimPrefix(strings.TrimSpace(string(code)), enrolScheme)
			c := &api.Client{HTTP: a.HTTP, URL: service, Patience: max(a.Patience, patience),
				Token: func(context.Context, bool) (string, error) { return bearer, nil }}
			t, _, err := tokenfile.Make(a.Disk, tokenFile, id)
			if err != nil {
				return err
			}
			for {
				answer, err := c.Do(ctx, api.Request{Method: http.MethodPost, Path: enrolments + "/redemptions", Repeatable: true,
					Body: map[string]string{"edgeId": id, "tokenSha256": t.SHA256}})
				switch {
				case err != nil:
					return refusedCode(err)
				case answer.Status != http.StatusAccepted:
					if a.json {
						a.show(answer.Body)
					}
					a.say("%s is registered", id)
					return nil
				case !waits:
					if a.json {
						a.show(answer.Body)
					}
					return fail(Otherwise, "%s waits until a person accepts it; its fingerprint is %s", id, t.SHA256)
				}
				a.note("wavegate: %s waits until a person accepts it; its fingerprint is %s", id, t.SHA256)
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(every + rand.N(every/10+1)):
				}
			}
		}),
	}
	f := cmd.Flags()
	f.StringVar(&address, "url", "", "the address of the `service`; by default, WAVEGATE_URL")
	f.StringVar(&codeFile, "code-file", "", "the `file` with the code")
	f.StringVar(&id, "id", "", "the id of the `box`")
	f.StringVar(&tokenFile, "token-file", "", "the `file` of the token, where it survives updates")
	f.BoolVar(&waits, "wait", false, "wait until a person accepts the box")
	f.DurationVar(&every, "every", time.Minute, "how often it tries again with --wait")
	return cmd
}

// refusedCode explains a refusal of the code.
func refusedCode(err error) error {
	if codeOf(err) == SignIn {
		return fmt.Errorf("%w: the code is wrong or no longer valid; boxes that it has registered can still poll", err)
	}
	return err
}
