package systems

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Secret makes a random secret of 128 bits.
func Secret() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: https://pkg.go.dev/crypto/rand#Read
	return hex.EncodeToString(b)
}

// keys are the cluster's certificates and keys; the paths are what the API
// server and the controller manager are given.
type keys struct {
	ca                []byte // PEM
	caFile            string
	certFile, keyFile string // the API server's
	serviceAccount    string // signs and verifies service account tokens
	audit             Pair   // for the receiver of audit events
}

// A Pair is a certificate and its key, as paths.
type Pair struct{ Cert, Key string }

// makeKeys writes a certificate authority that lives as long as the lab, the API
// server's certificate, and the key for service account tokens.
func makeKeys(dir string) (keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return keys{}, err
	}
	k := keys{
		caFile:         filepath.Join(dir, "ca.crt"),
		certFile:       filepath.Join(dir, "apiserver.crt"),
		keyFile:        filepath.Join(dir, "apiserver.key"),
		serviceAccount: filepath.Join(dir, "service-account.key"),
	}
	caKey, err := newKey(filepath.Join(dir, "ca.key"))
	if err != nil {
		return keys{}, err
	}
	if _, err := newKey(k.serviceAccount); err != nil {
		return keys{}, err
	}
	ca := template("reconcilebot lab", 1)
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign
	if k.ca, err = sign(k.caFile, ca, ca, &caKey.PublicKey, caKey); err != nil {
		return keys{}, err
	}
	server := template("kube-apiserver", 2)
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}
	server.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if err := issue(server, k.certFile, k.keyFile, ca, caKey); err != nil {
		return keys{}, err
	}
	audit := template("audit receiver", 3)
	audit.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	k.audit = Pair{Cert: filepath.Join(dir, "audit.crt"), Key: filepath.Join(dir, "audit.key")}
	if err := issue(audit, k.audit.Cert, k.audit.Key, ca, caKey); err != nil {
		return keys{}, err
	}
	return k, nil
}

// issue makes a server's key and certificate.
func issue(cert *x509.Certificate, certFile, keyFile string, ca *x509.Certificate, by *ecdsa.PrivateKey) error {
	key, err := newKey(keyFile)
	if err != nil {
		return err
	}
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	_, err = sign(certFile, cert, ca, &key.PublicKey, by)
	return err
}

func template(name string, serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(30 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return key, os.WriteFile(file, text, 0o600)
}

func sign(file string, cert, parent *x509.Certificate, pub *ecdsa.PublicKey, by *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, pub, by)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", filepath.Base(file), err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return text, os.WriteFile(file, text, 0o644)
}
