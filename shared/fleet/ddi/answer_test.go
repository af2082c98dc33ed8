package ddi

import (
	"encoding/json"
	"testing"
	"time"
)

func TestBaseAnswer_HasTheLinksThatThereAre(t *testing.T) {
	for want, b := range map[string]Base{
		`{"config":{"polling":{"sleep":"00:01:00"}}}`:                                                                             {Sleep: time.Minute},
		`{"config":{"polling":{"sleep":"00:01:00"}},"_links":{"configData":{"href":"https://x/box-1/configData"}}}`:               {Sleep: time.Minute, Identify: true},
		`{"config":{"polling":{"sleep":"23:59:59"}},"_links":{"cancelAction":{"href":"https://x/box-1/cancelAction/7"}}}`:         {Sleep: 48 * time.Hour, Cancel: 7},
		`{"config":{"polling":{"sleep":"00:00:00"}},"_links":{"deploymentBase":{"href":"https://x/box-1/deploymentBase/7?c=7"}}}`: {Deployment: 7},
	} {
		if got, err := json.Marshal(b.Answer("https://x/box-1")); err != nil || string(got) != want {
			t.Errorf("%+v: got %s, want %s (%v)", b, got, want, err)
		}
	}
}
