// Package apart runs operations on private tables in processes of their own, which have the lowest
// priority of the operating system.
//
// How long a job of a steward computes follows from its table. A job that took turns with the
// computations of paid answers would delay them, so that an analyst would see in the times and statuses
// of answers when a job runs and how long, also of a table without a role. A process of the lowest
// priority ([Serve] sets it) gets the processors only while nothing else wants them: on Linux the
// policy SCHED_IDLE and the highest nice value, on other Unix systems the highest nice value, on
// Windows the priority class IDLE. Its memory, its garbage collector and its faults are its own too.
// What remains is shared by all processes of a machine: caches, memory bandwidth and disks
// (docs/threat-model.md).
//
// The process is the same program, started for one operation ([Runner]). It gets the request on
// standard input and answers on standard output, in the frames of package frames: progress, notes and
// points while it computes, then the result or the error. Both sides first compare a print of the types
// that they exchange. The process ends when its standard input does: with its server.
//
// No guarantee of Noren rests on this package but the one about times: operations are those of package
// service, with the same requests and results.
package apart
