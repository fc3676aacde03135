// Package localstack runs a private PostgreSQL and a private Redis for
// local work ("make run") and for tests, so that nobody has to install,
// configure or clean up a server first.
//
// What it promises:
//
//   - Servers listen on 127.0.0.1 alone, on a port that was free at the start,
//     behind a generated password. Two stacks in two directories never meet.
//   - A directory's data is found again by the next start. One directory is
//     used by one run at a time; a second one is refused with a clear error.
//   - PostgreSQL refuses to run as root; as root it is run under an
//     unprivileged account, and its data are put where that account can reach
//     them.
//   - Servers are children in their own process group: a Ctrl-C in the
//     terminal reaches the program first, which then stops them in order.
//     A program that is killed without warning leaves no server behind for
//     ever: on Linux the kernel ends it, elsewhere the next start does.
//
// It is plumbing: nothing here knows the schema or the domain. Production
// never comes through this package; it reads DATABASE_URL and REDIS_URL.
package localstack
