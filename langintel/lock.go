package langintel

import (
	"context"
	"os"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// lockFile takes a lock that ends with the process, and waits for it until ctx
// ends.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, tools.AsError(err)
	}
	if err := filelock.Wait(ctx, file); err != nil {
		_ = file.Close()
		return nil, tools.AsError(err)
	}
	return func() { _ = file.Close() }, nil
}
