package langintel

import (
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Limits returns every bound of the package, for documentation and for hosts
// that check a configuration. Sizes are in bytes, times in milliseconds.
func Limits() []tools.Limit {
	return []tools.Limit{
		limitMessage(), limitPending(), limitTimeout(), limitStartTimeout(), limitServers(),
		limitRestarts(), limitOpen(), limitResults(), limitDiagnostics(), limitEditFiles(), limitDepth(),
		limitMemory(), limitIdle(),
	}
}

// HouseLimits returns the bounds of what a host's configuration may say about
// keeping servers: how many, their memory in bytes, their idle time in
// milliseconds.
func HouseLimits() (servers, memory, idle tools.Limit) {
	return limitServers(), limitMemory(), limitIdle()
}

// limitMessage bounds one message, in either direction.
func limitMessage() tools.Limit {
	return tools.Limit{Name: "MaxMessageBytes", Default: 4 << 20, Hard: 32 << 20}
}

// limitPending bounds the requests that one server has not answered yet.
func limitPending() tools.Limit { return tools.Limit{Name: "MaxPending", Default: 32, Hard: 128} }

// limitTimeout bounds one request to a server that is up, in milliseconds.
func limitTimeout() tools.Limit {
	return tools.Limit{Name: "Timeout", Default: 30_000, Hard: 120_000}
}

// limitStartTimeout bounds the start of a server up to its first answer, in milliseconds.
func limitStartTimeout() tools.Limit {
	return tools.Limit{Name: "StartTimeout", Default: 120_000, Hard: 600_000}
}

// limitServers bounds the servers that run for one workspace.
func limitServers() tools.Limit { return tools.Limit{Name: "MaxServers", Default: 4, Hard: 8} }

// limitRestarts bounds how often a server is started again by itself.
func limitRestarts() tools.Limit { return tools.Limit{Name: "MaxRestarts", Default: 3, Hard: 3} }

// limitOpen bounds the documents that one server has open.
func limitOpen() tools.Limit { return tools.Limit{Name: "MaxOpen", Default: 100, Hard: 1000} }

// limitResults bounds the entries of one answer.
func limitResults() tools.Limit { return tools.Limit{Name: "limit", Default: 500, Hard: 5000} }

// limitDiagnostics bounds the diagnostics of one file.
func limitDiagnostics() tools.Limit {
	return tools.Limit{Name: "MaxDiagnostics", Default: 200, Hard: 1000}
}

// limitEditFiles bounds the files that one edit from a server may touch.
func limitEditFiles() tools.Limit {
	return tools.Limit{Name: "MaxEditFiles", Default: 1000, Hard: 10_000}
}

// limitMemory bounds, in bytes, what a server may hold before it is started anew.
func limitMemory() tools.Limit {
	return tools.Limit{Name: "MemoryBudget", Default: 4 << 30, Hard: 64 << 30}
}

// limitIdle bounds, in milliseconds, how long an unused server is kept.
func limitIdle() tools.Limit {
	return tools.Limit{Name: "IdleTimeout", Default: 30 * 60_000, Hard: 24 * 60 * 60_000}
}

// duration reads a host's option as a time; zero is the limit's default.
func duration(limit tools.Limit, value time.Duration) (time.Duration, error) {
	ms, err := limit.Option(value.Milliseconds())
	return time.Duration(ms) * time.Millisecond, err
}
