// Package uploads receives files in parts that can be resumed after a cut connection.
//
// An upload is a folder of its own with the file and a small description, both of mode
// 0600. Each part comes with its place in the file and its SHA-256 and is written behind
// the parts before it. A part counts once all of it has arrived, its SHA-256 is right and
// it is on the disk: until then the file ends at the part before. The description holds
// the number of bytes that count, so that an upload goes on where it was after the process
// was killed.
//
// A part is streamed: an upload needs a buffer of memory, not the size of a part or of the
// file. Uploads that were not used for a day are deleted.
//
// Errors name no path and hold no byte of a file.
package uploads
