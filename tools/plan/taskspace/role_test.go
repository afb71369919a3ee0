package taskspace

func role() {}
