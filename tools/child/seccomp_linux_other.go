//go:build linux && !amd64 && !arm64

package child

import "errors"

// closeNetwork has no filter for this architecture, so a sandbox without
// network cannot be required here.
func closeNetwork() error {
	return errors.Join(errors.New("child: no socket filter for this architecture"), ErrUnsupported)
}
