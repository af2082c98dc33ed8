package ddi

import (
	"encoding/json"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
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

func TestFilename_IsOneThatAClientCanUse(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x/gateway%0Aa.swu": "gateway_a.swu", "https://a.example/x.swu?sig=%0A": "x.swu", "https://a.example/": "artifact",
		"https://a.example": "artifact", "https://a.example/a%2F..%2Fb.swu": "b.swu", "https://a.example/C%3A%5Cx": "C__x", "https://a.example/k%C3%A4se.swu": "käse.swu",
		"https://a.example/x%E2%80%AEuws.exe": "x_uws.exe", "https://a.example/%00": "_", "https://a.example/..": "artifact",
	} {
		expect.Equal(t, filename(address), want, "the name of %s is", address)
	}
}
