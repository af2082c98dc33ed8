package contract_test

import (
	"encoding/json"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
)

// TestPolicy_OfContractAndCode_AreTheSame: if the code says more than a schema can, the contract may accept what the
// code refuses.
func TestPolicy_OfContractAndCode_AreTheSame(t *testing.T) {
	schemas := document(t).Components.Schemas
	takes := func(schema, text string) bool {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return schemas[schema].Value.VisitJSON(v) == nil
	}
	for text, want := range map[string]struct{ code, contract bool }{
		`{}`:                              {true, true},
		`{"mode":"act"}`:                  {true, true},
		`{"mode":"on"}`:                   {false, false},
		`{"modes":"act"}`:                 {false, false},
		`{"guard":{"acceptable":0.001}}`:  {true, true},
		`{"guard":{"acceptable":0.0009}}`: {false, false},
		`{"guard":{"acceptable":0.25,"intolerable":0.5}}`:        {true, true},
		`{"guard":{"intolerable":0.51}}`:                         {false, false},
		`{"guard":{"acceptable":0.05}}`:                          {false, true}, // too near to what is intolerable
		`{"guard":{"silentAfter":"PT1M","decideWithin":"P30D"}}`: {true, true},
		`{"guard":{"silentAfter":"PT59S"}}`:                      {false, true}, // too short
		`{"guard":{"silentAfter":"10m"}}`:                        {false, false},
		`{"guard":{"smallFleet":"people"}}`:                      {true, true},
		`{"guard":{"smallFleet":"nobody"}}`:                      {false, false},
		`{"guard":{"taken":0.01}}`:                               {true, true},
		`{"guard":{"taken":1}}`:                                  {true, true},
		`{"guard":{"taken":80}}`:                                 {false, false},
		`{"guard":{"taken":0}}`:                                  {false, false},
		`{"guard":{"more":1}}`:                                   {false, false},
		`{"promote":{"auto":false,"soak":{"1":"PT0S","10":"PT1H","50":"P1D","100":"P1DT1H"}}}`:        {true, true},
		`{"promote":{"soak":{"2":"PT1H"}}}`:                                                           {false, false},
		`{"promote":{"auto":"yes"}}`:                                                                  {false, false},
		`{"promote":{"windows":[]}}`:                                                                  {true, true},
		`{"promote":{"windows":[{"from":"22:00","to":"24:00","timeZone":"UTC"}]}}`:                    {true, true},
		`{"promote":{"windows":[{"days":["mon"],"from":"22:00","to":"04:00","timeZone":"UTC"}]}}`:     {true, true},
		`{"promote":{"windows":[{"days":["mon","mon"],"from":"1:00","to":"2:00","timeZone":"UTC"}]}}`: {false, false},
		`{"promote":{"windows":[{"from":"24:00","to":"04:00","timeZone":"UTC"}]}}`:                    {false, false},
		`{"promote":{"windows":[{"from":"22:00","to":"04:00","timeZone":"Berlin"}]}}`:                 {false, true}, // no such zone
		`{"promote":{"windows":[{"from":"22:00","to":"04:00"}]}}`:                                     {false, false},
		`{"promote":{"windows":[{"days":[],"from":"22:00","to":"04:00","timeZone":"UTC"}]}}`:          {false, false},
		`{"approvals":{"before":[10,50,100]}}`:                                                        {true, true},
		`{"approvals":{"before":[1]}}`:                                                                {false, false},
		`{"approvals":{"before":[10,10]}}`:                                                            {false, false},
	} {
		p, faults := guard.Parse([]byte(text), time.Minute)
		if (len(faults) == 0) != want.code || takes("Policy", text) != want.contract {
			t.Errorf("%s: the code takes it: %t, the contract: %t", text, len(faults) == 0, takes("Policy", text))
		}
		if len(faults) == 0 && (!takes("Policy", string(p.JSON())) || !takes("PolicyInForce", string(p.JSON()))) {
			t.Errorf("%s: the contract does not take it as it is shown, %s", text, p.JSON())
		}
	}
}
