package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
)

// maxArchive bounds all archives of a chart once they are unpacked, in bytes.
const maxArchive = 64 << 20

// vetArchive unpacks an archive to nowhere, to see that it is not larger than
// may be, with the archives in it. Helm's loader sets no bound.
func vetArchive(name string, data []byte, left *int64) error {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("unpack %s: it is no gzip archive", path.Base(name))
	}
	bounded := io.LimitReader(zipped, *left+1)
	in := tar.NewReader(bounded)
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if *left <= 0 {
				return fmt.Errorf("unpack %s: %w", path.Base(name), ErrTooLarge)
			}
			return fmt.Errorf("unpack %s: it is no tar archive", path.Base(name))
		}
		if *left -= head.Size + 512; *left <= 0 || head.Size < 0 {
			return fmt.Errorf("unpack %s: %w", path.Base(name), ErrTooLarge)
		}
		if !isArchive(head.Name) {
			continue
		}
		inner, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("unpack %s: it is no tar archive", path.Base(name))
		}
		if err := vetArchive(head.Name, inner, left); err != nil {
			return err
		}
	}
	return nil
}
