package devissuer

import (
	"html/template"
	"net/http"

	"wavegate/shared/access/auth"
)

// ask shows the sign-in form. With prompt=none it shows nothing, and the request names the person by login_hint,
// organization and role.
func (p *Provider) ask(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if wrong := check(q); wrong != "" {
		http.Error(w, wrong, http.StatusBadRequest)
		return
	}
	if q.Get("prompt") == "none" {
		p.grant(w, r, q.Get("login_hint"), q.Get("organization"), q["role"])
		return
	}
	for _, known := range p.known {
		if known.User == q.Get("login_hint") {
			p.grant(w, r, known.User, known.Organization, known.Roles)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// The caller may have left. A test finds a fault in the template.
	_ = form.Execute(w, map[string]any{"Action": "?" + r.URL.RawQuery, "User": q.Get("login_hint"), "Roles": p.issuers.people.grants, "Owner": auth.PlatformOwner})
}

var form = template.Must(template.New("form").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to the local Wavegate</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 24rem; margin: 3rem auto; padding: 0 1rem }
label { display: block; margin: .75rem 0 }
input[type=text], button { display: block; width: 100%; font: inherit; padding: .6rem; box-sizing: border-box }
</style>
<h1>Sign in</h1>
<p>This is the service on this machine. Say who you are; there is no password.</p>
<form method="post" action="{{.Action}}">
<label>Name <input type="text" name="user" value="{{.User}}" required autofocus autocomplete="off"></label>
<label>Organization <input type="text" name="organization" value="wavegate" autocomplete="off"></label>
<fieldset><legend>Roles</legend>
{{range .Roles}}<label><input type="checkbox" name="role" value="{{.}}"{{if eq . $.Owner}} checked{{end}}> {{.}}</label>
{{end}}</fieldset>
<p><button>Sign in</button></p>
</form>
`))
