package contract_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/platform/input"
)

// The headers' patterns describe a value as HTTP carries it: without surrounding spaces.
var (
	quoted = rapid.StringOfN(rapid.RuneFrom([]rune(`"W/*,a3 ~!`+"\t")), 0, 12, -1)
	key    = rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 ~!-\té")), 0, 260, -1)
)

func TestHeaders_EntityTags_AgreeWithTheCode(t *testing.T) {
	agree(t, "EntityTags", quoted, "If-Match", func(in *input.Reader) { in.Preconditions() })
}

func TestHeaders_IdempotencyKey_AgreesWithTheCode(t *testing.T) {
	agree(t, "IdempotencyKey", key, "Idempotency-Key", func(in *input.Reader) { in.IdempotencyKey() })
}

func agree(t *testing.T, schema string, values *rapid.Generator[string], header string, read func(*input.Reader)) {
	allowed := regexp.MustCompile(document(t).Components.Schemas[schema].Value.Pattern)
	rapid.Check(t, func(r *rapid.T) {
		value := strings.Trim(values.Draw(r, "value"), " \t")
		got := httptest.NewRequest(http.MethodPut, "/", nil)
		got.Header.Set(header, value)
		in := input.Of(got, input.Takes{Conditions: true, IdempotencyKey: true})
		read(in)
		if taken := in.Err() == nil; taken != allowed.MatchString(value) {
			r.Fatalf("%q: the code takes it: %v; the contract: %v", value, taken, !taken)
		}
	})
}
