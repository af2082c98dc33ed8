package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
)

// An UnreachableError is a call that got no answer.
type UnreachableError struct {
	URL   string // of the service
	Cause error
}

func (u *UnreachableError) Unwrap() error { return u.Cause }

// Error says in plain words why there is no answer.
func (u *UnreachableError) Error() string {
	if u.Sent() {
		return fmt.Sprintf("%s did not answer: %s", u.URL, u.why())
	}
	return fmt.Sprintf("cannot reach %s: %s; is the address right?", u.URL, u.why())
}

// Sent reports whether the call may have reached the service.
func (u *UnreachableError) Sent() bool {
	dial, ok := errors.AsType[*net.OpError](u.Cause)
	_, name := errors.AsType[*net.DNSError](u.Cause)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](u.Cause)
	return !(name || certificate || ok && dial.Op == "dial")
}

func (u *UnreachableError) why() string {
	name, unknown := errors.AsType[*net.DNSError](u.Cause)
	timeout, slow := errors.AsType[net.Error](u.Cause)
	certificate, untrusted := errors.AsType[*tls.CertificateVerificationError](u.Cause)
	switch {
	case errors.Is(u.Cause, syscall.ECONNREFUSED):
		return "connection refused"
	case unknown && name.IsNotFound:
		return "there is no host " + name.Name
	case untrusted:
		return certificate.Error()
	case slow && timeout.Timeout():
		return "it took too long"
	}
	if call, ok := errors.AsType[*url.Error](u.Cause); ok {
		return call.Err.Error()
	}
	return u.Cause.Error()
}
