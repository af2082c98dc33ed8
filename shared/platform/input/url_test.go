package input_test

import (
	"strings"
	"testing"

	"wavegate/shared/platform/input"
)

func TestHTTPSURL(t *testing.T) {
	long := "https://a.example/" + strings.Repeat("x", 4096-len("https://a.example/"))
	for url, taken := range map[string]bool{
		"https://a.example/x.tar.gz":                     true,
		"https://a.example":                              true,
		"https://a.example:8443/x?sig=a%20b":             true,
		"https://[2001:db8::1]/x":                        true,
		"https://[::1]:65535/x":                          true,
		"https://[1:2:3:4:5:6:7:8]/x":                    true,
		"https://[Ee:c0c]/x":                             false, // not an address
		"https://[1::2::3]/x":                            false,
		"https://[1:2:3:4:5:6:7:8:9]/x":                  false,
		"https://[192.0.2.1]/x":                          false, // an IPv4 address has no brackets
		"https://[]/x":                                   false,
		"https://a.example:0/x":                          false,
		"https://.a/":                                    false,
		"https://a..b/":                                  false,
		"https://-a.b/":                                  false,
		"https://a-.b/":                                  false,
		"https://a.b./":                                  false,
		"https://" + strings.Repeat("a", 64) + ".b/":     false,
		"https://my_bucket.s3.example/x":                 true,
		"https://a.example:65536/x":                      false,
		long:                                             true,
		long + "x":                                       false,
		"https://a.example/" + strings.Repeat("x", 5000): false,
		"http://a.example/x":                             false,
		"ftp://a.example/x":                              false,
		"//a.example/x":                                  false,
		"/x":                                             false,
		"x":                                              false,
		"":                                               false,
		"https://":                                       false,
		"https:///x":                                     false,
		"https://:443/x":                                 false,
		"https://user@a.example/x":                       false,
		"https://user:secret@a.example/x":                false,
		"https://@a.example/x":                           false,
		"https://a.example/x#part":                       false,
		"https://a.example/x#":                           false,
		"https://a.example/a b":                          false,
		"https://a.example/\x00":                         false,
		"https://a.example:port/x":                       false,
		"https://a.example/%zz":                          false,
		"https://exämple.example/x":                      false,
		"javascript:alert(1)":                            false,
		" https://a.example/x":                           false,
	} {
		if _, code, _ := input.HTTPSURL.Apply(url); (code == "") != taken {
			t.Errorf("%.60q: code %q, want accepted %v", url, code, taken)
		}
	}
}
