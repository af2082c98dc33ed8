package content_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"wavegate/shared/production/content"
	"wavegate/shared/testing/expect"
)

func TestDiff_APointOfACurve_IsOneChange(t *testing.T) {
	before := parsed(t, sample(t, "roasting"))
	for name, c := range map[string]struct{ old, other, want string }{
		"a point more": {`"x": 5,`, `"x": 3.25, "y": 120}, {"x": 5,`, `[{"op":"added","path":"/steps/10/parameters/bean-temperature/points/3.25","to":{"x":3.25,"y":120},"after":"1.5","critical":true}]`},
		"another y":    {`"y": 150,`, `"y": 151,`, `[{"op":"changed","path":"/steps/10/parameters/bean-temperature/points/5/y","from":150,"to":151,"critical":true}]`},
		"a wider band": {`"min": 146,`, `"min": 140,`, `[{"op":"changed","path":"/steps/10/parameters/bean-temperature/points/5/min","from":146,"to":140,"critical":true}]`},
	} {
		text := strings.Join(strings.Fields(string(sample(t, "roasting"))), " ")
		expect.Must(t, strings.Contains(text, c.old), "%s: no %s in the sample", name, c.old)
		changes := expect.Value(content.Diff(before, parsed(t, []byte(strings.Replace(text, c.old, c.other, 1)))))(t)
		if got, err := json.Marshal(changes); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
}

func TestDiff_TellsWhatAnEngineerChanged(t *testing.T) {
	before := parsed(t, sample(t, "anodizing"))
	for name, c := range map[string]struct{ old, other, want string }{
		"nothing":               {"", "", `[]`},
		"a critical target":     {`"target": 1.5, "min": 1.4`, `"target": 1.45, "min": 1.4`, `[{"op":"changed","path":"/steps/50/parameters/current-density/target","from":1.5,"to":1.45,"critical":true}]`},
		"a limit missing":       {`{"id": "temperature", "target": 55, "min": 50, "max": 60,`, `{"id": "temperature", "target": 55, "max": 60,`, `[{"op":"removed","path":"/steps/20/parameters/temperature/min","from":50,"critical":false}]`},
		"an override":           {`"text": "P11"`, `"text": "P12"`, `[{"op":"changed","path":"/steps/50/parameters/rectifier-program/overrides/anod-tank-2/text","from":"P11","to":"P12","critical":false}]`},
		"the machines":          {`["anod-tank-1", "anod-tank-2"]`, `["anod-tank-2"]`, `[{"op":"changed","path":"/steps/50/equipment/machines","from":["anod-tank-1","anod-tank-2"],"to":["anod-tank-2"],"critical":false}]`},
		"a critical check gone": {`{"id": "thickness", "name": "Coating thickness, eddy current", "min": 15, "max": 20, "unit": "um", "every": {"quantity": 8, "unit": "{piece}"}, "standard": "ISO 2360", "critical": true},`, ``, `[{"op":"removed","path":"/steps/80/checks/thickness","from":{"critical":true,"every":{"quantity":8,"unit":"{piece}"},"id":"thickness","max":20,"min":15,"name":"Coating thickness, eddy current","standard":"ISO 2360","unit":"um"},"critical":true}]`},
		"an attribute":          {`"R-4711"`, `"R-4712"`, `[{"op":"changed","path":"/attributes/erpRouting","from":"R-4711","to":"R-4712","critical":false}]`},
		"no longer critical": {`"unit": "g/L", "critical": true},
       {"id": "dissolved-aluminium"`, `"unit": "g/L"},
       {"id": "dissolved-aluminium"`, `[{"op":"removed","path":"/steps/50/parameters/sulfuric-acid/critical","from":true,"critical":true}]`},
		"a parameter moved": {`{"id": "ramp", "target": 2, "min": 1, "max": 3, "unit": "min"},
       {"id": "time", "target": 32, "min": 31, "max": 36, "unit": "min", "critical": true},`, `{"id": "time", "target": 32, "min": 31, "max": 36, "unit": "min", "critical": true},
       {"id": "ramp", "target": 2, "min": 1, "max": 3, "unit": "min"},`, `[{"op":"moved","path":"/steps/50/parameters/ramp","after":"time","critical":false}]`},
	} {
		text := string(sample(t, "anodizing"))
		expect.Must(t, strings.Contains(text, c.old), "%s: no %s in the sample", name, c.old)
		changes := expect.Value(content.Diff(before, parsed(t, []byte(strings.Replace(text, c.old, c.other, 1)))))(t)
		if got, err := json.Marshal(changes); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
}

// FuzzDuration checks that time.ParseDuration accepts every accepted duration as well.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"PT5M", "PT1H30M", "PT0.125S", "PT", "P1D", "PT5", "PT1M1H", "pt5m", "PT-5M", "PT5M ", "PT9999H9999M9999.999S", "PT12345S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := expect.Value(json.Marshal(text))(t)
		_, faults := content.Parse([]byte(`{"form":1,"basis":{"quantity":1,"unit":"1"},"steps":[{"id":"1","name":"s","setup":` + string(quoted) + `}]}`))
		if len(faults) > 0 {
			return
		}
		d, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(text, "PT")))
		expect.That(t, err == nil && d >= 0, "%q is accepted: %v, %v", text, d, err)
	})
}
