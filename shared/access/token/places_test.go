package token_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/tokentest"
)

// installers is the setting of the world's issuer of people, which grants fleet_installer at some places.
func installers(t *testing.T, w tokentest.World, places string) *token.Verifier {
	t.Helper()
	return verifierOf(t, strings.Replace(w.Setting, `"grants":["`, `"places":`+places+`,"grants":["fleet_installer","`, 1), w.Now)
}

func TestVerify_Installer_IsBoundToThePlacesOfSettingsAndToken(t *testing.T) {
	w := tokentest.NewWorld(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	v := installers(t, w, `{"factories":["munich-1","munich-2"]}`)
	installer := w.Person().With("roles", "fleet_installer")
	for name, c := range map[string]struct {
		draft tokentest.Draft
		want  auth.Places
	}{
		"as the settings say":  {installer, auth.Places{Factories: []string{"munich-1", "munich-2"}}},
		"as both say":          {installer.With("wavegate_factories", []string{"munich-2", "berlin-1"}), auth.Places{Factories: []string{"munich-2"}}},
		"a channel of a token": {installer.With("wavegate_channels", "gateway-x/stable"), auth.Places{Factories: []string{"munich-1", "munich-2"}, Channels: []string{"gateway-x/stable"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := expect.Value(v.Verify(t.Context(), c.draft.Sign()))(t)
			expect.Equal(t, p.Places, c.want, "the places")
			arrived := expect.Value(auth.FromContext(p.Context()))(t)
			expect.Equal(t, strings.Join(arrived.Places.Factories, " "), strings.Join(c.want.Factories, " "), "the factories that arrive are")
			expect.Equal(t, strings.Join(arrived.Places.Channels, " "), strings.Join(c.want.Channels, " "), "the channels that arrive are")
		})
	}
	for name, draft := range map[string]tokentest.Draft{
		"no common place":   installer.With("wavegate_factories", []string{"berlin-1"}),
		"an empty list":     installer.With("wavegate_factories", []string{}),
		"a number":          installer.With("wavegate_channels", 7),
		"no channel's name": installer.With("wavegate_channels", []string{"stable"}),
		"a space":           installer.With("wavegate_factories", []string{"munich-1 munich-9"}),
	} {
		if p, err := v.Verify(t.Context(), draft.Sign()); err == nil {
			t.Errorf("%s: verified as %+v", name, p)
		}
	}
}

func TestParseIssuers_BadPlaces_AreFaults(t *testing.T) {
	w := tokentest.NewWorld(time.Now())
	for _, places := range []string{`{}`, `[]`, `{"factories":[]}`, `{"factories":["Munich 1"]}`, `{"channels":["stable"]}`, `{"machines":["m"]}`} {
		setting := strings.Replace(w.Setting, `"grants":["`, `"places":`+places+`,"grants":["fleet_installer","`, 1)
		refuses(t, setting, "places")
	}
}

// TestVerify_ViewerWithoutAnOrganization_NeedsAnIssuerOfThePlatform: such a token reads all organizations, so a
// customer's issuer must not make it.
func TestVerify_ViewerWithoutAnOrganization_NeedsAnIssuerOfThePlatform(t *testing.T) {
	w := tokentest.NewWorld(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	person := w.Person().With("roles", "fleet_viewer")
	for name, c := range map[string]struct {
		grants       string
		organization any
		ok, all      bool
	}{
		"of an owner's issuer":                             {`"fleet_viewer","platform_owner"`, nil, true, true},
		"of a viewer's issuer":                             {`"fleet_viewer","platform_viewer"`, nil, true, true},
		"of a customer's issuer":                           {`"fleet_viewer","organization_admin"`, nil, false, false},
		"of a customer's issuer, with an empty one":        {`"fleet_viewer","organization_admin"`, "", false, false},
		"of a customer's issuer, with no item":             {`"fleet_viewer","organization_admin"`, []string{}, false, false},
		"of a customer's issuer, with one":                 {`"fleet_viewer","organization_admin"`, "acme", true, false},
		"of an owner's issuer, with one":                   {`"fleet_viewer","platform_owner"`, "acme", true, false},
		"of an issuer that does not grant the role at all": {`"platform_owner"`, "acme", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var issuers []map[string]any
			expect.OK(t, json.Unmarshal([]byte(w.Setting), &issuers))
			issuers[0]["grants"] = json.RawMessage("[" + c.grants + "]")
			p, err := verifierOf(t, tokentest.JSON(issuers), w.Now).Verify(t.Context(), person.With("org", c.organization).Sign())
			expect.Equal(t, err == nil, c.ok, "the token is accepted (%v)", err)
			expect.Equal(t, p.SeesAll(), c.all, "it sees all")
		})
	}
}

func TestParseIssuers_RoleOfACode_IsGrantedByNoClaim(t *testing.T) {
	w := tokentest.NewWorld(time.Now())
	refuses(t, strings.Replace(w.Setting, `"grants":["`, `"grants":["enrolment","`, 1), "enrolment")
}
