// Package bell tells boxes that something has changed for them, but never what. A box that hears it polls its manifest,
// which authenticates it and answers it alone.
//
// Anyone may ask. An address contains the edge type and the channel, and a proof that nobody can guess from them. Nothing
// else that the bell says can be turned back into a name: proofs, sounds and call codes are parts of an HMAC-SHA-256 with
// a secret. Whoever has an address, such as any box of the channel, learns when something changed there and how many
// boxes are called.
//
// The rules are pure. store.go stores what the row of a channel does not show.
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

// A Secret makes the addresses, sounds and codes of a deployment.
type Secret string

// LeastSecret is the minimum length of a secret, in characters.
const LeastSecret = 32

// Secrets are the valid secrets: the present one, and the one before. Boxes learn new addresses at their heartbeats, so
// the one before stays valid until the next rotation.
type Secrets []Secret

// KeySettings lists the settings that name the secret; see package keys.
var KeySettings = []setting.Name{setting.BellSecretID, setting.BellSecret}

// The purposes of what is cut from an HMAC, and the number of bytes for each.
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

// cut returns the first bytes of the HMAC of some texts, none of which holds a zero byte.
func (s Secret) cut(bytes int, of ...string) string {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(strings.Join(of, "\x00")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:bytes])
}

// An Address is where the boxes of a release channel listen.
type Address struct{ EdgeType, Channel, Proof string }

// Address returns the address of a release channel. Nobody can guess it without the secret, so nobody can try names.
func (s Secret) Address(edgeType, channel string) Address {
	return Address{edgeType, channel, s.cut(proofBytes, proofs, edgeType, channel)}
}

// Call returns the code with which the bell calls one box.
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

// prefix is the beginning of every address's path.
const prefix = "/b/"

// Path is the path of the address.
func (a Address) Path() string { return prefix + a.EdgeType + "/" + a.Channel + "/" + a.Proof }

// ParseAddress reads a path as it was sent. It returns false if the path is not one of an address.
func ParseAddress(path string) (Address, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || !input.Name.Accepts(parts[0]) || !input.Name.Accepts(parts[1]) ||
		len(parts[2]) != base64.RawURLEncoding.EncodedLen(proofBytes) {
		return Address{}, false
	}
	return Address{parts[0], parts[1], parts[2]}, true
}
