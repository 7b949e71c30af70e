// Package jobs runs long operations of the server: a few at a time, the rest in a queue,
// with progress that a browser can follow.
//
// At most [Config.Running] jobs run and at most [Config.Queued] wait. Each running job
// may use an equal share of [Config.Memory], so that all of them together stay within it.
// A job is queued, running, done, failed, cancelled, or lost: the process ended before
// the job did. Jobs are stored by [Config.Save] at each change of state; [New] marks those
// that a former process left unfinished as lost.
//
// A job has events, each with a number. [Manager.Follow] writes them as server-sent
// events: "progress" (the latest alone counts), the events that the job emits, and one
// final event. A client that reconnects names the last number that it has seen.
//
// Progress, events and results tell of private data. The caller decides who may read
// them.
package jobs
