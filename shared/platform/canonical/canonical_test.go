package canonical_test

import (
	"testing"

	"wavegate/shared/platform/canonical"
	"wavegate/shared/testing/expect"
)

func TestJSON_HasOneSpelling(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : 1.50 , "a" : [ 1e2 , -0 , 0.0, {"z":-0.0} ] } `: `{"a":[100,0,0,{"z":0}],"b":1.5}`,
		`{"s":"\u00e9\/\u0041<&>\u000a\u0009\u007f"}`:             "{\"s\":\"é/A<&>\\n\\t\x7f\"}",
		`{"n":[1e21,1e-7,0.000001,123456789012345]}`:              `{"n":[1e+21,1e-7,0.000001,123456789012345]}`,
		`"a\u2028b\u2029c\\u2028\\\u2029"`:                        "\"a\u2028b\u2029c\\\\u2028\\\\\u2029\"",
	} {
		got := expect.Value(canonical.JSON([]byte(text)))(t)
		expect.Equal(t, string(got), want, "the form of %s is", text)
	}
	for _, text := range []string{`{} {}`, `{`, ``} {
		got, err := canonical.JSON([]byte(text))
		expect.That(t, err != nil, "%q became %s", text, got)
	}
}

func TestEncode_SortsTheFieldsOfAStruct(t *testing.T) {
	got := expect.Value(canonical.Encode(struct {
		Z int    `json:"z"`
		A string `json:"a,omitempty"`
		B string `json:"b"`
	}{1, "", "<"}))(t)
	expect.Equal(t, string(got), `{"b":"<","z":1}`, "the text is")
}

func TestSHA256_OfTheEmptyObject(t *testing.T) {
	got := canonical.SHA256([]byte("{}"))
	expect.That(t, got == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", "%v", got)
}
