// Package bell tells boxes that something has changed for them, and never what. A box that hears it polls its manifest,
// where it is known and gets an answer of its own.
//
// Anyone may ask, so nothing that the bell says can be turned back into a name: addresses, sounds and call codes are
// cut from an HMAC-SHA-256 with a secret. Who has an address, any box of the channel, learns when something changed
// there and how many boxes are called.
//
// The rules are pure. store.go keeps in a table what the row of a channel does not show.
package bell

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"wavegate/shared/platform/input"
	"wavegate/shared/platform/setting"
)

// A Secret makes the addresses, sounds and codes of a stage.
type Secret string

// LeastSecret is how many characters a secret has at least.
const LeastSecret = 32

// Secrets are those that are valid: the present one, and the one before. Boxes learn new addresses at their
// heartbeats, so the one before stays valid until the next one comes.
type Secrets []Secret

// KeySettings are those that name the secret; see package keys.
var KeySettings = []setting.Name{setting.BellSecretID, setting.BellSecret}

// What is cut from an HMAC, and how many bytes of it.
const (
	proofs     = "proof"
	sounds     = "sound"
	calls      = "call"
	sets       = "set"
	proofBytes = 9
	soundBytes = 9
	callBytes  = 6
	setBytes   = 6
)

// cut is the beginning of the HMAC of some texts, of which none holds a zero byte.
func (s Secret) cut(bytes int, of ...string) string {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(strings.Join(of, "\x00")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:bytes])
}

// An Address is where the boxes of a release channel listen.
type Address struct{ EdgeType, Channel, Proof string }

// Address is that of a release channel. Nobody without the secret can make it up, so nobody can try names.
func (s Secret) Address(edgeType, channel string) Address {
	return Address{edgeType, channel, s.cut(proofBytes, proofs, edgeType, channel)}
}

// Call is the code by which the bell calls one box.
func (s Secret) Call(edgeID string) string { return s.cut(callBytes, calls, edgeID) }

// sound changes with the channel's row and with the number of times that the channel was rung as a whole.
func (s Secret) sound(row string, rung int64) string {
	return s.cut(soundBytes, sounds, row, strconv.FormatInt(rung, 10))
}

// Made returns the secret that an address was made with; false: none of them.
func (all Secrets) Made(a Address) (Secret, bool) {
	var made Secret
	for _, s := range all {
		if hmac.Equal([]byte(s.Address(a.EdgeType, a.Channel).Proof), []byte(a.Proof)) {
			made = s
		}
	}
	return made, made != ""
}

// prefix begins the path of every address.
const prefix = "/b/"

// Path is the path of the address.
func (a Address) Path() string { return prefix + a.EdgeType + "/" + a.Channel + "/" + a.Proof }

// ParseAddress reads a path as it was sent. It is false if no address has the path.
func ParseAddress(path string) (Address, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || !input.Name.Accepts(parts[0]) || !input.Name.Accepts(parts[1]) ||
		len(parts[2]) != base64.RawURLEncoding.EncodedLen(proofBytes) {
		return Address{}, false
	}
	return Address{parts[0], parts[1], parts[2]}, true
}
