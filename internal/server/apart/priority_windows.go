package apart

import "golang.org/x/sys/windows"

// lowest gives the process the lowest priority class.
func lowest() { _ = windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS) }
