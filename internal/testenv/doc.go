// Package testenv gives tests a real PostgreSQL, a real Redis and a browser.
//
// A package that uses it has one line of set-up:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
// after which DatabaseURL is the package's own migrated database, RedisURL its
// own Redis, and FreshDatabaseURL, PrivateRedis and PrivatePostgres give one
// test something that it may break. Nothing is started before a test asks.
//
// "make test" runs the tests below this package's command, which starts one
// PostgreSQL for all packages and installs what is missing. Without it (plain
// "go test ./app/store") a package starts a server for itself; that needs the
// programs to be installed. No test is ever skipped: what is missing fails the
// test with a text that says what to install.
package testenv
