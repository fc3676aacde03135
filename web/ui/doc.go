// Package ui is what all pages share: the frame around them, their styles and
// script, the two languages, and the ways to show times, numbers and text from
// outside. It knows no page and asks no store.
//
// A page is a [Page]: a function from a [Visit] to a [Reply]. Its texts are a
// struct of the page's own in both languages (see [In]), its markup is in
// templates/ beside it, parsed by [ParseViews]. Whole sentences only: none is put
// together from parts. A field of texts whose name ends in F is a format.
package ui
