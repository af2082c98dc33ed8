package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestClient_ThreeHundredProcesses_WhoseCyclesTakeATenthLonger_AreHalted, each with one box of the Go client.
func TestClient_ThreeHundredProcesses_WhoseCyclesTakeATenthLonger_AreHalted(t *testing.T) {
	expect.Full(t)
	const boxes = 300
	w, owner := begin(t, lookEachSecond, withSettings(setting.PollIntervalSeconds.Assign(10), setting.IdlePollIntervalSeconds.Assign(10)))
	rollout := judgedRollout(t, w, strings.ReplaceAll(numbersPolicy, "PT20S", "PT60S"))
	for _, b := range placedBoxes(t, w, boxes) {
		text := expect.Value(json.Marshal(b))(t)
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), boxProcess+"="+string(text))
		c.Stderr = t.Output()
		end := expect.Value(c.StdinPipe())(t)
		expect.OK(t, c.Start())
		defer func() {
			expect.OK(t, end.Close())
			expect.OK(t, c.Wait())
		}()
	}
	owner.Patch(t, rollout, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
	began, sentence := time.Now(), haltedForHealth(t, w, rollout)
	t.Logf("after %.0f s: %s", time.Since(began).Seconds(), sentence)
}
