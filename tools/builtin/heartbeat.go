package builtin

import (
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// heartbeat reports every second that a call still works, in seconds of total
// (0: nobody knows). It starts nothing when nobody listens. The function that
// it returns ends it, and returns only when no report can come any more.
func heartbeat(call *tools.Call, total float64, message string) (stop func()) {
	if call.Progress == nil {
		return func() {}
	}
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for seconds := 1.0; ; seconds++ {
			select {
			case <-quit:
				return
			case <-ticker.C:
				call.Report(seconds, total, message)
			}
		}
	})
	return func() {
		close(quit)
		done.Wait()
	}
}
