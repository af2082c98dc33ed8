package box

import "testing"

// FuzzAnswers: whatever the service or a plant cache answers, the box continues, and waits for some time.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"version":"1.1.0","artifactUrl":"https://a.example/x","sha256":"7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730","pollIntervalSeconds":60,"bell":{"url":"https://b.example/b/x/y/z","call":"9f"}}`), []byte(`{"sound":"b","intervalSeconds":300,"calls":["9f"]}`), []byte(`{"retryAfterSeconds":300}`))
	f.Add([]byte(`{}`), []byte(`{"intervalSeconds":-1}`), []byte(`{"retry":false}`))
	f.Fuzz(func(t *testing.T, manifest, ring, advice []byte) {
		s := settled()
		if m, err := parseManifest(manifest); err == nil {
			s.Told(m, "tag", "1.0.0", at(0))
		}
		if r, err := parseRing("b", ring); err == nil {
			s.Heard(r, at(0))
		}
		s.Attempt(Report{Outcome: Failed}, at(0))
		if a, err := parseAdvice(advice); err == nil {
			s.Advised(a, at(0))
		}
		for range 20 {
			switch a := s.Next(at(0)); a.Deed {
			case Wait:
				if !a.Until.After(at(0)) {
					t.Fatalf("it waits until %v", a.Until)
				}
				return
			case Listen:
				s.Unheard(0, at(0))
			case Poll:
				s.Refused(0, at(0))
			case Tell:
				s.Stale(at(0))
			default:
				t.Fatalf("it does %d", a.Deed)
			}
		}
		t.Fatal("it does not wait")
	})
}
