// Package report writes what was measured as pages and pictures for people.
//
// A [Page] is made of sections, and a section of blocks: paragraphs, key
// figures, tables and pictures. [Page.Write] makes one self-contained HTML
// file of it: no script, nothing fetched from elsewhere, fit for paper and for
// dark screens. Every picture stands beside a table with its numbers, so that
// no colour or shape carries meaning alone. [Assessment] makes the page for
// the risk and the utility of a table.
//
// The pictures are [Bars], [Overlay], [Lines] and [HeatMap]. Each is a [Chart]
// and can be written as an SVG file of its own. Their size is bounded by what
// can be told apart on a screen, however large the data.
//
// # Guarantee
//
// Whatever text comes from data (names of columns, of categories, of files) is
// escaped for its place. A page of statistics of an original
// table is private; such a page says so on top ([Page.Private]).
package report
