package unit

import "testing"

func TestCorrections_AreCodes(t *testing.T) {
	for wrong, better := range corrections {
		if !Valid(better) {
			t.Errorf("%s, the answer to %s, is no code", better, wrong)
		}
	}
}
