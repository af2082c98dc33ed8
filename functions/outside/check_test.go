package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"wavegate/shared/testing/expect"
)

var everyone = Known{ClientID: "client", Username: "probe", Password: "s3cret", EdgeID: "probe/1", BoxToken: "box-token"}

// A stand is an API and a pool that answer as told.
type stand struct {
	stranger, person, box, login int
	token                        string
	asked                        []string
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("Authorization"))
	switch {
	case r.URL.Path == "/login/":
		body, _ := io.ReadAll(r.Body)
		var sent struct {
			AuthFlow, ClientId string
			AuthParameters     map[string]string
		}
		if json.Unmarshal(body, &sent) != nil || sent.ClientId != "client" || sent.AuthParameters["USERNAME"] != "probe" || sent.AuthParameters["PASSWORD"] != "s3cret" ||
			r.Header.Get("X-Amz-Target") != "AWSCognitoIdentityProviderService.InitiateAuth" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(s.login)
		_ = json.NewEncoder(w).Encode(map[string]any{"AuthenticationResult": map[string]string{"AccessToken": s.token}})
	case strings.HasPrefix(r.URL.Path, "/api/edges/"):
		w.WriteHeader(s.box)
	case r.Header.Get("Authorization") == "":
		w.WriteHeader(s.stranger)
	default:
		w.WriteHeader(s.person)
	}
}

func TestCheck_NamesWhatFails(t *testing.T) {
	well := stand{stranger: 401, person: 200, box: 200, login: 200, token: "token"}
	for name, c := range map[string]struct {
		bend  func(*stand)
		known Known
		want  []string
	}{
		"all is well":            {func(*stand) {}, everyone, nil},
		"nothing new for a box":  {func(s *stand) { s.box = 304 }, everyone, nil},
		"only a stranger":        {func(*stand) {}, Known{}, nil},
		"a stranger is let in":   {func(s *stand) { s.stranger = 200 }, everyone, []string{"a stranger is refused: answered 200"}},
		"the login fails":        {func(s *stand) { s.login = 400 }, everyone, []string{"a person signs in: answered 400"}},
		"a second factor":        {func(s *stand) { s.token = "" }, everyone, []string{"a person signs in: got no token"}},
		"reads fail":             {func(s *stand) { s.person = 500 }, everyone, []string{"a person reads: answered 500"}},
		"polls and reads fail":   {func(s *stand) { s.person, s.box = 503, 403 }, everyone, []string{"a person reads: answered 503", "a box polls: answered 403"}},
		"the gateway is too old": {func(s *stand) { s.stranger = 403 }, Known{}, []string{"a stranger is refused: answered 403"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := well
			c.bend(&s)
			server := httptest.NewServer(&s)
			defer server.Close()
			faults := checker{api: server.URL, login: server.URL + "/login/", client: server.Client()}.check(t.Context(), c.known)
			expect.Must(t, len(faults) == len(c.want), "it found %v, want %v", faults, c.want)
			for i, want := range c.want {
				if !strings.HasPrefix(faults[i].Error(), want) {
					t.Errorf("it found %v, want %s", faults[i], want)
				}
			}
		})
	}
}

func TestCheck_SendsEachTokenWhereItBelongs(t *testing.T) {
	s := stand{stranger: 401, person: 200, box: 200, login: 200, token: "person-token"}
	server := httptest.NewServer(&s)
	defer server.Close()
	faults := checker{api: server.URL, login: server.URL + "/login/", client: server.Client()}.check(t.Context(), everyone)
	want := []string{"GET /api/ota/release-channels ", "POST /login/ ", "GET /api/ota/release-channels Bearer person-token",
		"GET /api/edges/probe%2F1/update/manifest Bearer box-token"}
	expect.That(t, len(faults) == 0 && strings.Join(s.asked, "|") == strings.Join(want, "|"),
		"it asked %q, %v", s.asked, faults)
}

func TestCheck_OfANameThatDoesNotAnswer_Fails(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	faults := (checker{api: server.URL, client: http.DefaultClient}).check(t.Context(), Known{})
	expect.That(t, len(faults) == 1, "it found %v", faults)
}

// A vault is a Secrets Manager with one value.
type vault struct {
	value string
	err   error
}

func (v vault) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	return &secretsmanager.GetSecretValueOutput{SecretString: &v.value}, v.err
}

func TestRead_ASecretThatIsNone_IsNamedAndNotShown(t *testing.T) {
	got, err := read(t.Context(), vault{value: `{"clientId":"c","username":"u","password":"p","edgeId":"e","boxToken":"t"}`}, "id")
	want := (Known{"c", "u", "p", "e", "t"})
	expect.That(t, err == nil && got == want, "it read %v, %v", got, err)
	_, err = read(t.Context(), vault{value: "hunter2"}, "id")
	expect.That(t, err != nil && !strings.Contains(err.Error(), "hunter2"), "the error is %v", err)
	_, err = read(t.Context(), vault{err: errors.New("denied")}, "id")
	expect.That(t, err != nil, "a secret that cannot be read passes")
}
