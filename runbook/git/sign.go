package git

import (
	"bytes"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/crypto/ssh"
)

// Signer signs commits. The same commit gets the same signature, so that a
// commit that is made again after a crash is the same commit.
type Signer struct {
	ssh ssh.Signer
	pgp *openpgp.Entity
}

// NewSigner reads a private key: OpenSSH's, as ssh-keygen writes it, or an
// armored OpenPGP one. It must not have a passphrase: who could read the key
// could read the passphrase too. No error says anything of the key.
func NewSigner(key string) (*Signer, error) {
	if strings.Contains(key, "PGP PRIVATE KEY") {
		ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key))
		switch {
		case err != nil || len(ring) == 0 || ring[0].PrivateKey == nil:
			return nil, errors.New("it is no OpenPGP private key; export one with gpg --armor --export-secret-keys")
		case ring[0].PrivateKey.Encrypted:
			return nil, errors.New("the OpenPGP key has a passphrase; export it without one")
		}
		return &Signer{pgp: ring[0]}, nil
	}
	signer, err := ssh.ParsePrivateKey([]byte(key))
	if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked {
		return nil, errors.New("the SSH key has a passphrase; make one without, by ssh-keygen -t ed25519 -N ''")
	}
	if err != nil {
		return nil, errors.New("it is neither an SSH nor an OpenPGP private key")
	}
	// Signatures by other kinds differ each time.
	if kind := signer.PublicKey().Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoRSA {
		return nil, fmt.Errorf("SSH keys of the kind %s are not taken; make one by ssh-keygen -t ed25519", kind)
	}
	return &Signer{ssh: signer}, nil
}

// Public is the public key, in the form in which the Git host wants it
// registered: a line of authorized_keys, or nothing for an OpenPGP key.
func (s *Signer) Public() string {
	if s.ssh == nil {
		return ""
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.ssh.PublicKey())))
}

// sign adds the signature to a commit.
func (s *Signer) sign(c *object.Commit) error {
	plain := &plumbing.MemoryObject{}
	if err := c.EncodeWithoutSignature(plain); err != nil {
		return err
	}
	r, err := plain.Reader()
	if err != nil {
		return err
	}
	var payload bytes.Buffer
	if _, err := payload.ReadFrom(r); err != nil {
		return err
	}
	if s.pgp != nil {
		c.PGPSignature, err = s.byPGP(payload.Bytes(), c.Committer.When)
	} else {
		c.PGPSignature, err = s.bySSH(payload.Bytes())
	}
	if err != nil {
		return fmt.Errorf("sign the commit: %w", err)
	}
	return nil
}

func (s *Signer) byPGP(payload []byte, when time.Time) (string, error) {
	var out strings.Builder
	random := false
	err := openpgp.ArmoredDetachSign(&out, s.pgp, bytes.NewReader(payload), &packet.Config{
		Time: func() time.Time { return when }, NonDeterministicSignaturesViaNotation: &random,
	})
	return out.String() + "\n", err
}

// bySSH makes a signature such as `ssh-keygen -Y sign -n git` does.
// https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
func (s *Signer) bySSH(payload []byte) (string, error) {
	const magic, namespace, hash = "SSHSIG", "git", "sha512"
	sum := sha512.Sum512(payload)
	toSign := append([]byte(magic), ssh.Marshal(struct {
		Namespace, Reserved, Hash string
		Sum                       []byte
	}{namespace, "", hash, sum[:]})...)
	var signature *ssh.Signature
	var err error
	if many, ok := s.ssh.(ssh.AlgorithmSigner); ok && s.ssh.PublicKey().Type() == ssh.KeyAlgoRSA {
		signature, err = many.SignWithAlgorithm(nil, toSign, ssh.KeyAlgoRSASHA512)
	} else {
		signature, err = s.ssh.Sign(nil, toSign)
	}
	if err != nil {
		return "", err
	}
	blob := append([]byte(magic), ssh.Marshal(struct {
		Version                   uint32
		Public                    []byte
		Namespace, Reserved, Hash string
		Signature                 []byte
	}{1, s.ssh.PublicKey().Marshal(), namespace, "", hash, ssh.Marshal(signature)})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob})), nil
}
