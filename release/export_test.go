package release

// Readable is readable, for tests.
var Readable = readable
