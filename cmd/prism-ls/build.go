package main

import (
	"os"
	"strconv"
	"strings"
)

// build tells one program from another where they must be the same: clients and
// their daemon. A version that was released says it; of any other build the file
// has to be the same as well.
func build() string {
	name := version()
	if !strings.HasPrefix(name, "(devel)") && !strings.Contains(name, "modified") && !strings.Contains(name, "+dirty") {
		return name
	}
	info, err := os.Stat("/proc/self/exe") // of the running program, also where its file was replaced
	if err != nil {
		return name
	}
	return name + " " + strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}
