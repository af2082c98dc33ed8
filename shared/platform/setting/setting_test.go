package setting_test

import (
	"strings"
	"testing"

	"wavegate/shared/platform/setting"
)

func TestNumber_NotSet_HasItsDefault(t *testing.T) {
	for name, rule := range setting.Ranges {
		t.Setenv(string(name), "")
		r := setting.NewValues(name)
		if got := r.Number(name); got != rule.Default || r.Err() != nil {
			t.Errorf("%s: got %d, %v", name, got, r.Err())
		}
		if rule.Default < rule.Least || rule.Default > rule.Most {
			t.Errorf("%s: the default %d is out of the range", name, rule.Default)
		}
	}
}

func TestNumber_OutOfRange_IsAFaultThatNamesIt(t *testing.T) {
	for text, taken := range map[string]bool{"1": true, "86400": true, "0": false, "86401": false, "-1": false, "1.5": false, "1m": false, " 1": false, "x": false} {
		t.Setenv(string(setting.PollIntervalSeconds), text)
		r := setting.NewValues(setting.PollIntervalSeconds)
		r.Number(setting.PollIntervalSeconds)
		if err := r.Err(); (err == nil) != taken || err != nil && !strings.Contains(err.Error(), "POLL_INTERVAL_SECONDS is") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestErr_SeveralFaults_AreReportedTogether(t *testing.T) {
	t.Setenv(string(setting.LimitUser), "many")
	t.Setenv(string(setting.LimitOrganization), "0")
	r := setting.NewValues(setting.Limits...)
	r.Number(setting.LimitUser)
	r.Number(setting.LimitOrganization)
	if err := r.Err(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestText_NotNamedByTheRow_IsAFault(t *testing.T) {
	t.Setenv(string(setting.CopilotURL), "https://assistant.example")
	r := setting.NewValues(setting.LimitUser)
	if got := r.Text(setting.CopilotURL); got != "" || r.Err() == nil {
		t.Errorf("got %q, %v", got, r.Err())
	}
}
