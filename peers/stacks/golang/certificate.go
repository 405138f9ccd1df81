package golang

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"time"
)

// TLS gives a server's and a client's settings, with a certificate made on the spot.
func TLS() (server, client *tls.Config) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		Fail("a key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC),
		DNSNames:     []string{"server"},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		Fail("a certificate: %v", err)
	}
	server = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
		NextProtos:   []string{"race"},
		MinVersion:   tls.VersionTLS13,
	}
	client = &tls.Config{
		ServerName:         "server",
		InsecureSkipVerify: true,
		NextProtos:         []string{"race"},
		MinVersion:         tls.VersionTLS13,
	}
	return server, client
}
