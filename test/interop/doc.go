// Package interop holds what we send against programs that others wrote to
// receive it. The tests need Node.js (tag "node"); scripts/verify-npm.sh runs them.
package interop
