package child

// GuardianPID returns the number of the owner's guardian, 0 without one.
func GuardianPID(o *Owner) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.guardian == nil {
		return 0
	}
	return o.guardian.process.Pid
}

// ReaperPID returns the number of the process's reaper.
func ReaperPID(p *Process) int { return p.reaper }
