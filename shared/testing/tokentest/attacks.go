package tokentest

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"wavegate/shared/access/token"
)

// An Attack is one token that must be refused.
type Attack struct {
	Name  string
	Token string
	Class token.RefusalReason
	// MayBecomeGood is set if the refusal is temporary.
	MayBecomeGood bool
}

// Attacks lists the known attacks on a token, each with the class of its refusal. The names are
// those of RFC 8725 and of the usual lists of attacks on JWT.
func (w World) Attacks() []Attack {
	permanent := func(name string, class token.RefusalReason, forged string) Attack {
		return Attack{Name: name, Token: forged, Class: class}
	}
	temporary := func(name string, class token.RefusalReason, forged string) Attack {
		return Attack{Name: name, Token: forged, Class: class, MayBecomeGood: true}
	}
	person, box, good := w.Person(), w.Box(), w.Person().Sign()
	parts := strings.Split(good, ".")
	thief := NewES256(w.PeopleES256.ID)

	return []Attack{
		// The algorithm.
		permanent("alg none without a signature", token.BadAlgorithm, unsigned(person.WithHeader("alg", "none"))+"."),
		permanent("alg none with the good signature", token.BadAlgorithm, unsigned(person.WithHeader("alg", "none"))+"."+parts[2]),
		permanent("alg nOnE", token.BadAlgorithm, unsigned(person.WithHeader("alg", "nOnE"))+"."),
		permanent("alg missing", token.BadHeader, person.WithHeader("alg", nil).Sign()),
		permanent("alg of another case", token.BadAlgorithm, person.WithHeader("alg", "es256").Sign()),
		permanent("alg is not a string", token.BadHeader, person.WithHeader("alg", []string{"ES256"}).Sign()),
		permanent("HMAC signed with the public key in PEM", token.BadAlgorithm, w.hmac(person, w.pem())),
		permanent("HMAC signed with the public key in DER", token.BadAlgorithm, w.hmac(person, w.der())),
		permanent("HMAC signed with an empty secret", token.BadAlgorithm, w.hmac(person, nil)),
		permanent("PS256, a good algorithm that is not on the list", token.BadAlgorithm, w.pss(person)),
		permanent("wrong type of key: RS256 with the id of a P-256 key", token.WrongKeyType,
			person.By(w.PeopleRS256).WithHeader("kid", w.PeopleES256.ID).Sign()),
		permanent("wrong type of key: ES256 with the id of an Ed25519 key", token.WrongKeyType,
			person.WithHeader("kid", w.PeopleEdDSA.ID).Sign()),
		permanent("wrong type of key: EdDSA with the id of an RSA key", token.WrongKeyType,
			person.By(w.PeopleEdDSA).WithHeader("kid", w.PeopleRS256.ID).Sign()),

		// The key.
		temporary("unknown kid", token.UnknownKey, person.By(NewES256("stranger")).Sign()),
		temporary("kid of another issuer's key", token.UnknownKey, person.By(w.FleetKey).Sign()),
		permanent("kid missing", token.BadHeader, person.WithHeader("kid", nil).Sign()),
		permanent("kid empty", token.BadHeader, person.WithHeader("kid", "").Sign()),
		permanent("kid oversized", token.BadHeader, person.WithHeader("kid", strings.Repeat("k", 129)).Sign()),
		permanent("kid is not a string", token.BadHeader, person.WithHeader("kid", map[string]any{"$ne": ""}).Sign()),
		temporary("kid as a path", token.UnknownKey, person.WithHeader("kid", "../../../../dev/null").Sign()),
		temporary("kid as a query", token.UnknownKey, person.WithHeader("kid", "x' UNION SELECT 'key").Sign()),
		permanent("crit", token.BadHeader, person.WithHeader("crit", []string{"exp"}).Sign()),
		permanent("crit with b64", token.BadHeader, person.WithHeader("crit", []string{"b64"}).WithHeader("b64", false).Sign()),
		permanent("jku", token.BadHeader, person.By(thief).WithHeader("jku", "https://thief.example/keys").Sign()),
		permanent("x5u", token.BadHeader, person.By(thief).WithHeader("x5u", "https://thief.example/cert").Sign()),
		permanent("x5c", token.BadHeader, person.By(thief).WithHeader("x5c", []string{"MIIB"}).Sign()),
		permanent("embedded jwk", token.BadHeader, person.By(thief).WithHeader("jwk", thief.JWK()).Sign()),
		permanent("another kind of token by typ", token.BadHeader, person.WithHeader("typ", "logout+jwt").Sign()),
		permanent("typ is not a string", token.BadHeader, person.WithHeader("typ", 1).Sign()),

		// The signature.
		permanent("signed by a stranger with a known kid", token.BadSignature, person.By(thief).Sign()),
		permanent("tampered payload", token.BadSignature,
			parts[0]+"."+Encode([]byte(JSON(person.With("roles", "platform_owner").Claims)))+"."+parts[2]),
		permanent("tampered header", token.BadSignature,
			Encode([]byte(JSON(person.WithHeader("typ", "JWT").Header)))+"."+parts[1]+"."+parts[2]),
		permanent("signature of another token", token.BadSignature,
			parts[0]+"."+parts[1]+"."+strings.Split(person.With("sub", "eve").Sign(), ".")[2]),
		permanent("truncated signature", token.BadSignature, truncated(person)),
		permanent("signature cut by one character", token.Malformed, good[:len(good)-1]),
		permanent("signature of zeros", token.BadSignature, parts[0]+"."+parts[1]+"."+Encode(make([]byte, 64))),
		permanent("no signature", token.BadSignature, parts[0]+"."+parts[1]+"."),
		permanent("RSA signature truncated", token.BadSignature, truncated(person.By(w.PeopleRS256))),
		permanent("Ed25519 signature truncated", token.BadSignature, truncated(person.By(w.PeopleEdDSA))),

		// The form.
		permanent("no dots", token.Malformed, "good"),
		permanent("two dots too few", token.Malformed, parts[0]),
		permanent("one dot too few", token.Malformed, parts[0]+"."+parts[1]),
		permanent("one dot too many", token.Malformed, good+"."),
		permanent("five parts, as an encrypted token", token.Malformed, good+".a.b"),
		permanent("only dots", token.Malformed, ".."),
		permanent("oversized token", token.TooLarge, person.With("note", strings.Repeat("x", 8<<10)).Sign()),
		permanent("standard base64", token.Malformed, parts[0]+"."+parts[1]+"."+strings.Repeat("+/", 43)),
		permanent("padded base64", token.Malformed, parts[0]+"=."+parts[1]+"."+parts[2]),
		permanent("signature with bits to spare", token.Malformed, withSpareBits(good)),
		permanent("line break in the signature", token.Malformed, parts[0]+"."+parts[1]+"."+parts[2][:10]+"\n"+parts[2][10:]),
		permanent("header is not an object", token.Malformed, w.PeopleES256.SignText(`["ES256"]`, JSON(person.Claims))),
		permanent("header is null", token.Malformed, w.PeopleES256.SignText(`null`, JSON(person.Claims))),
		permanent("claims are a nested token", token.Malformed, w.PeopleES256.SignText(JSON(person.Header), good)),
		permanent("claims are not UTF-8", token.Malformed,
			w.PeopleES256.SignText(JSON(person.Header), strings.Replace(JSON(person.Claims), "ada", "ad\xff", 1))),
		permanent("something behind the claims", token.Malformed,
			w.PeopleES256.SignText(JSON(person.Header), JSON(person.Claims)+`{}`)),
		permanent("claims nested deep", token.Malformed,
			w.PeopleES256.SignText(JSON(person.Header), strings.Repeat("[", 5000))),
		permanent("alg twice", token.Malformed,
			w.PeopleES256.SignText(`{"alg":"none","alg":"ES256","kid":"es"}`, JSON(person.Claims))),
		permanent("sub twice", token.Malformed,
			w.PeopleES256.SignText(JSON(person.Header), `{"sub":"root",`+JSON(person.Claims)[1:])),
		permanent("a claim in another case does not count", token.BadClaims,
			person.With("sub", nil).With("Sub", "ada").Sign()),

		// The claims.
		permanent("wrong issuer", token.BadIssuer, person.With("iss", "https://thief.example").Sign()),
		permanent("issuer with a slash more", token.BadIssuer, person.With("iss", People+"/").Sign()),
		permanent("iss missing", token.BadClaims, person.With("iss", nil).Sign()),
		permanent("iss is a list", token.BadClaims, person.With("iss", []string{People}).Sign()),
		permanent("wrong audience", token.BadAudience, person.With("aud", "billing").Sign()),
		permanent("wrong audience beside an allow-listed client", token.BadAudience,
			person.With("aud", "billing").With("client_id", Client).With("token_use", "access").Sign()),
		permanent("aud missing", token.BadAudience, person.With("aud", nil).Sign()),
		permanent("aud empty", token.BadClaims, person.With("aud", []string{}).Sign()),
		permanent("aud is an object", token.BadClaims, person.With("aud", map[string]any{Audience: true}).Sign()),
		permanent("another client", token.BadAudience,
			person.With("aud", nil).With("client_id", "another-app").With("token_use", "access").Sign()),
		permanent("client without token_use", token.BadAudience, person.With("aud", nil).With("client_id", Client).Sign()),
		permanent("client of another issuer", token.BadAudience,
			box.With("aud", nil).With("client_id", Client).With("token_use", "access").Sign()),
		permanent("ID token", token.BadTokenUse, person.With("token_use", "id").Sign()),
		permanent("refresh token", token.BadTokenUse, person.With("token_use", "refresh").Sign()),
		permanent("token_use is not a string", token.BadTokenUse, person.With("token_use", []string{"access"}).Sign()),
		permanent("expired", token.Expired, person.With("exp", w.Now.Add(-30*time.Second).Unix()).Sign()),
		permanent("expired long ago", token.Expired, person.With("exp", 0).Sign()),
		permanent("exp missing", token.BadClaims, person.With("exp", nil).Sign()),
		permanent("exp is a string", token.BadClaims, person.With("exp", "9999999999").Sign()),
		permanent("exp is null", token.BadClaims, w.PeopleES256.SignText(JSON(person.Header),
			`{"exp":null,`+JSON(person.With("exp", nil).Claims)[1:])),
		permanent("exp beyond all time", token.BadClaims, person.With("exp", 1e300).Sign()),
		permanent("exp negative", token.BadClaims, person.With("exp", -1).Sign()),
		temporary("not yet valid by nbf", token.NotYetValid, person.With("nbf", w.Now.Add(31*time.Second).Unix()).Sign()),
		temporary("issued in the future", token.NotYetValid, person.With("iat", w.Now.Add(31*time.Second).Unix()).Sign()),
		permanent("not yet valid and forged", token.BadSignature,
			person.By(thief).With("nbf", w.Now.Add(time.Hour).Unix()).Sign()),
		permanent("expired with an unknown kid", token.Expired,
			person.By(NewES256("stranger")).With("exp", w.Now.Add(-time.Hour).Unix()).Sign()),
		permanent("sub missing", token.BadClaims, person.With("sub", nil).Sign()),
		permanent("sub empty", token.BadClaims, person.With("sub", "").Sign()),
		permanent("sub is a number", token.BadClaims, person.With("sub", 7).Sign()),
		permanent("sub oversized", token.BadClaims, person.With("sub", strings.Repeat("s", 256)).Sign()),
		permanent("sub with a line break", token.BadClaims, person.With("sub", "ada\nlevel=INFO").Sign()),
		permanent("sub with a look-alike letter", token.BadClaims, person.With("sub", "\u0430da").Sign()),
		permanent("invalid organization id", token.BadClaims, person.With("org", "acme/../rival").Sign()),
		permanent("organizations in a list", token.BadClaims, person.With("org", []string{"acme", "rival"}).Sign()),
		permanent("roles in an object", token.BadClaims, person.With("roles", map[string]any{"platform_owner": true}).Sign()),
		permanent("roles in lists of lists", token.BadClaims, person.With("roles", []any{[]string{"platform_owner"}}).Sign()),

		// One issuer pretends to be another.
		permanent("a role that its issuer may not grant: the fleet makes a platform owner", token.BadRole,
			box.With("roles", "platform_owner").Sign()),
		permanent("a role that its issuer may not grant: beside one that it may", token.BadRole,
			box.With("roles", "edge platform_owner").Sign()),
		permanent("a role that its issuer may not grant: the people's makes a box", token.BadRole,
			person.With("roles", []string{"edge"}).Sign()),
		permanent("the fleet makes a person of an organization", token.BadRole, box.With("roles", nil).Sign()),
		permanent("the fleet makes a person by a role of another service", token.BadRole, box.With("roles", "reader").Sign()),
		permanent("a box whose id is none", token.BadClaims, box.With("sub", "box 7").Sign()),
		permanent("a customer's issuer names another customer's organization", token.BadOrganization, w.Employee().With("org", "acme").Sign()),
		permanent("a customer's issuer names an organization beside its prefix", token.BadOrganization, w.Employee().With("org", "initechno").Sign()),
		permanent("a customer's issuer names its prefix in another case", token.BadOrganization, w.Employee().With("org", "Initech-austin").Sign()),
		permanent("the platform's issuer names a customer's organization", token.BadOrganization, person.With("org", "initech-austin").Sign()),
		permanent("a customer's issuer makes a platform owner", token.BadRole, w.Employee().With("roles", "platform_owner").Sign()),
		temporary("a customer's key signs in the platform's name", token.UnknownKey, person.By(w.CustomerKey).Sign()),
		permanent("a customer's key signs in the platform's name, with a known kid", token.BadSignature,
			person.By(w.CustomerKey).WithHeader("kid", w.PeopleES256.ID).Sign()),

		// Lifetimes that are too long.
		permanent("exp a hundred years ahead", token.BadLifetime, person.With("exp", w.Now.AddDate(100, 0, 0).Unix()).Sign()),
		permanent("exp a hundred years ahead, without iat", token.BadLifetime,
			person.With("iat", nil).With("exp", w.Now.AddDate(100, 0, 0).Unix()).Sign()),
		permanent("a second longer than a day", token.BadLifetime, person.With("exp", w.Now.Add(24*time.Hour+time.Second).Unix()).Sign()),
		permanent("issued long ago, for long", token.BadLifetime, person.With("iat", w.Now.Add(-24*time.Hour).Unix()).Sign()),
		permanent("a box's, a second longer than its issuer's may", token.BadLifetime,
			box.With("exp", w.Now.AddDate(0, 0, 30).Add(time.Second).Unix()).Sign()),
		permanent("the fleet's key signs in the people's name", token.BadSignature,
			person.By(w.FleetKey).WithHeader("kid", w.PeopleES256.ID).Sign()),
	}
}

func unsigned(d Draft) string {
	return Encode([]byte(JSON(d.Header))) + "." + Encode([]byte(JSON(d.Claims)))
}

// truncated signs a draft and removes the last byte of the signature.
func truncated(d Draft) string {
	signature := must(d.Key.Method.Sign(unsigned(d), d.Key.Signer))
	return unsigned(d) + "." + Encode(signature[:len(signature)-1])
}

// withSpareBits sets the unused bits in the last character of a 64-byte signature. A lenient
// reader sees the same signature, so the same token has a second form.
func withSpareBits(raw string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, raw[len(raw)-1])
	return raw[:len(raw)-1] + alphabet[last+1:last+2]
}

func (w World) der() []byte { return must(x509.MarshalPKIXPublicKey(w.PeopleRS256.Signer.Public())) }

func (w World) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: w.der()})
}

// hmac signs with HS256 and a public key as the secret.
func (w World) hmac(d Draft, secret []byte) string {
	signed := unsigned(d.WithHeader("alg", "HS256").WithHeader("kid", w.PeopleRS256.ID))
	return signed + "." + Encode(must(jwt.SigningMethodHS256.Sign(signed, secret)))
}

func (w World) pss(d Draft) string {
	signed := unsigned(d.WithHeader("alg", "PS256").WithHeader("kid", w.PeopleRS256.ID))
	return signed + "." + Encode(must(jwt.SigningMethodPS256.Sign(signed, w.PeopleRS256.Signer)))
}
