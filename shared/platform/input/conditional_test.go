package input_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func conditional(header, value string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if value != "" {
		r.Header.Set(header, value)
	}
	return r
}

func TestIfMatch_AgainstRevision3(t *testing.T) {
	for value, holds := range map[string]bool{
		"":                true,
		`"3"`:             true,
		`*`:               true,
		`"1", "3"`:        true,
		` "1" ,, "3" `:    true,
		`"2"`:             false,
		`W/"3"`:           false, // a weak tag never matches strongly
		`"1","2"`:         false,
		`"33"`:            false,
		`"a,b", "3"`:      true,
		`W/"1", W/"2"`:    false,
		`"3 with spaces"`: false,
	} {
		in := input.Of(conditional("If-Match", value), input.Takes{Conditions: true})
		err := in.Preconditions().Check(`"3"`)
		expect.Equal(t, err == nil && in.Err() == nil, holds, "%q: holds", value)
	}
}

func TestIfMatch_ResourceDoesNotExist_Fails(t *testing.T) {
	for _, value := range []string{`"1"`, `*`} {
		in := input.Of(conditional("If-Match", value), input.Takes{Conditions: true})
		err := in.Preconditions().Check("")
		expect.That(t, problem.Has(err, problem.PreconditionFailed), "%q: got %v", value, err)
	}
}

func TestIfNoneMatch_Star_AllowsOnlyNewResources(t *testing.T) {
	in := input.Of(conditional("If-None-Match", "*"), input.Takes{Conditions: true})
	if err := in.Preconditions().Check(""); err != nil {
		t.Errorf("new: got %v", err)
	}
	err := in.Preconditions().Check(`"1"`)
	expect.That(t, problem.Has(err, problem.PreconditionFailed), "there already: got %v", err)
}

func TestIfMatch_Malformed_IsAFault(t *testing.T) {
	for _, value := range []string{`3`, `"3`, `W/3`, `"1" "2"`, `w/"3"`, `,`, `"3";`} {
		in := input.Of(conditional("If-Match", value), input.Takes{Conditions: true})
		in.Preconditions()
		if !problem.Has(in.Err(), problem.ValidationFailed) {
			t.Errorf("%q: got %v", value, in.Err())
		}
	}
}

func TestNotModified(t *testing.T) {
	for value, want := range map[string]bool{
		"":                 false,
		`"3"`:              true,
		`W/"3"`:            true,
		`*`:                true,
		`"1", W/"3"`:       true,
		`"2"`:              false,
		`3`:                false,
		`"3" "4"`:          false,
		`"` + "\x00" + `"`: false,
	} {
		expect.Equal(t, input.NotModified(conditional("If-None-Match", value), `"3"`), want, "%q", value)
	}
	expect.That(t, !input.NotModified(conditional("If-None-Match", "*"), ""), "an answer without an entity tag matched")
}

func TestRevision_OfNothing_HasNoTag(t *testing.T) {
	expect.Equal(t, input.Revision(0), "", "nothing has the tag")
	expect.Equal(t, input.Revision(33), `"33"`, "revision 33 has the tag")
}
