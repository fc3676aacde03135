package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/internal/egress"
)

// errBadURL is an endpoint whose stored URL is not one. It was checked when it
// was saved; this is for rows written by other hands.
var errBadURL = errors.New("bad URL")

// failure says why an exchange ended without an answer.
func (x *exchange) failure(parent context.Context) (models.ErrorClass, string) {
	if parent.Err() != nil {
		return models.ErrorWorkerLost, "the worker stopped before the answer came"
	}
	class := classifyError(x.err, x.probe.seen().phase)
	return class, printable(describe(class, x.err), maxTextRunes)
}

// classifyError puts a transport's error into a class. at is how far the
// exchange had come: the same broken pipe means different things there.
func classifyError(err error, at phase) models.ErrorClass {
	if class := classifyTimeout(err, at); class != "" {
		return class
	}
	var blocked *egress.BlockedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &blocked):
		return models.ErrorBlockedAddress
	case errors.As(err, &dns):
		return models.ErrorDNS
	case errors.Is(err, syscall.ECONNREFUSED):
		return models.ErrorRefused
	}
	if class := classifyTLS(err, at); class != "" {
		return class
	}
	return classifyBroken(err, at)
}

// classifyTimeout returns no class for an error that is not about time.
func classifyTimeout(err error, at phase) models.ErrorClass {
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case errors.Is(err, errTotalTimeout):
		return models.ErrorTimeout
	case errors.Is(err, errAnswerTimeout):
		return models.ErrorReadTimeout
	case errors.Is(err, errConnectTimeout) && at == phaseDNS, errors.As(err, &dns):
		return models.ErrorDNS
	case errors.Is(err, errConnectTimeout):
		return models.ErrorConnectTimeout
	case !errors.As(err, &timeout) || !timeout.Timeout():
		return ""
	case at < phaseConnected:
		return models.ErrorConnectTimeout
	}
	return models.ErrorReadTimeout
}

// classifyTLS returns no class for an error that has nothing to do with TLS.
func classifyTLS(err error, at phase) models.ErrorClass {
	var (
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		verify    *tls.CertificateVerificationError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		remote    *net.OpError // an alert of the peer's has no type of its own
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return models.ErrorTLSExpired
	case errors.As(err, &name):
		return models.ErrorTLSName
	case errors.As(err, &authority):
		return models.ErrorTLSUntrusted
	case errors.As(err, &invalid), errors.As(err, &verify), errors.As(err, &alert), errors.As(err, &record),
		errors.Is(err, http.ErrSchemeMismatch):
		return models.ErrorTLS
	case errors.As(err, &remote) && remote.Op == "remote error",
		at == phaseTLS && !errors.Is(err, syscall.ECONNRESET):
		return models.ErrorTLS
	}
	return ""
}

// classifyBroken sorts what is left: a connection that ended early, or an
// answer that is not HTTP.
func classifyBroken(err error, at phase) models.ErrorClass {
	hungUp := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case at == phaseConnected, hungUp:
		return models.ErrorReset
	case at == phaseAnswering:
		return models.ErrorBadResponse
	}
	return models.ErrorConnection
}

// sentences open the description of each class.
var sentences = map[models.ErrorClass]string{
	models.ErrorRefused:        "the receiver refused the connection",
	models.ErrorConnectTimeout: "no connection to the receiver in time",
	models.ErrorTLSExpired:     "the receiver's certificate has expired or is not valid yet",
	models.ErrorTLSName:        "the receiver's certificate is for another name",
	models.ErrorTLSUntrusted:   "the receiver's certificate is not signed by a known authority",
	models.ErrorTLS:            "the TLS handshake with the receiver failed",
	models.ErrorReset:          "the receiver closed the connection before it answered",
	models.ErrorReadTimeout:    "the receiver did not answer in time",
	models.ErrorTimeout:        "the exchange with the receiver took too long",
	models.ErrorBadResponse:    "the receiver's answer is not valid HTTP or its headers are too large",
	models.ErrorBlockedAddress: "the receiver's address may not be reached",
	models.ErrorConnection:     "the connection to the receiver failed",
}

// describe words a failure for the endpoint's owner. It shows the innermost
// cause only: what lies around it names our own addresses and resolver.
func describe(class models.ErrorClass, err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return dns.Name + " does not resolve: there is no such host"
	case errors.As(err, &dns) && !dns.IsTimeout:
		return dns.Name + " does not resolve: the look-up failed"
	case class == models.ErrorDNS:
		return "the receiver's name did not resolve in time"
	}
	if errors.Is(err, errConnectTimeout) || errors.Is(err, errAnswerTimeout) || errors.Is(err, errTotalTimeout) {
		return sentences[class]
	}
	return sentences[class] + ": " + innermost(err)
}

// innermost returns the text of what caused err.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil || errors.Is(err, errBadURL) {
			return err.Error()
		}
		err = next
	}
}
