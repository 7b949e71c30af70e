package apart

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lowest gives all threads of the process the policy SCHED_IDLE, and the highest nice value where a
// system refuses that. Threads that start later inherit both from those that start them.
//
// Where memory is short, the system ends the process before the server: it takes the score of all that
// the process may have.
func lowest() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // as high as it gets, which needs no right
	done := map[int]bool{}
	for again := true; again; {
		again = false
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
			return
		}
		for _, e := range entries {
			id, err := strconv.Atoi(e.Name())
			if err != nil || done[id] {
				continue
			}
			done[id], again = true, true
			idle(id)
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19)
		}
	}
}

// schedIdle is SCHED_IDLE of the system.
const schedIdle = 5

func idle(thread int) {
	none := struct{ priority int32 }{}
	_, _, _ = unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(thread), schedIdle, uintptr(unsafe.Pointer(&none)))
}
