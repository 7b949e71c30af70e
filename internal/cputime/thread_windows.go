package cputime

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// threadTimes is GetThreadTimes of the system.
var threadTimes = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetThreadTimes")

// threadTime is the processor time of this thread.
func threadTime() (time.Duration, bool) {
	if threadTimes.Find() != nil {
		return 0, false
	}
	var created, exited, kernel, user windows.Filetime
	done, _, _ := threadTimes.Call(uintptr(windows.CurrentThread()), uintptr(unsafe.Pointer(&created)), uintptr(unsafe.Pointer(&exited)),
		uintptr(unsafe.Pointer(&kernel)), uintptr(unsafe.Pointer(&user)))
	if done == 0 {
		return 0, false
	}
	// Filetime counts 100 ns.
	count := func(f windows.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return count(kernel) + count(user), true
}
