package lifecycle_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/internal/lifecycle"
)

func newServer(t *testing.T, handler http.HandlerFunc) *lifecycle.HTTPServer {
	t.Helper()
	server, err := lifecycle.ListenHTTP(t.Context(), "127.0.0.1:0", handler, quiet)
	require.NoError(t, err)
	return server
}

// get asks the server in the background; what it answers, or the error, comes
// through the channel.
func get(server *lifecycle.HTTPServer, header http.Header) <-chan string {
	answer := make(chan string, 1)
	go func() {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+server.Addr().String(), http.NoBody)
		if err != nil {
			answer <- err.Error()
			return
		}
		request.Header = header
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			answer <- "error: " + err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		answer <- response.Status + " " + string(body)
	}()
	return answer
}

func TestHTTPServerAnswersWhatIsInFlight(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	server := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "done")
	})
	require.NoError(t, server.Start(t.Context()))
	answer := get(server, http.Header{})
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(context.Background()) }()
	refused(t, server) // new ones are not let in meanwhile
	close(release)
	require.Equal(t, "200 OK done", <-answer)
	require.NoError(t, <-stopped)
	require.NoError(t, server.Stop(t.Context()), "stopping twice does nothing")
	require.Empty(t, server.Failed(), "being stopped is no failure")
}

// refused waits until the server's port takes no connections.
func refused(t *testing.T, server *lifecycle.HTTPServer) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, patience, 5*time.Millisecond)
}

func TestHTTPServerCutsOffWhatOutlivesTheStop(t *testing.T) {
	t.Parallel()
	entered, ended := make(chan struct{}), make(chan struct{})
	server := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(ended)
	})
	require.NoError(t, server.Start(t.Context()))
	answer := get(server, http.Header{})
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, server.Stop(ctx), "cut off")
	require.Contains(t, <-answer, "error: ")
	<-ended // its context tells the handler
}

func TestHTTPServerFreesItsPortWithoutEverServing(t *testing.T) {
	t.Parallel()
	server := newServer(t, http.NotFound)
	require.NoError(t, server.Stop(t.Context()))
	refused(t, server)
}

func TestHTTPServerReportsATakenAddress(t *testing.T) {
	t.Parallel()
	first := newServer(t, http.NotFound)
	defer func() { _ = first.Stop(context.Background()) }()
	_, err := lifecycle.ListenHTTP(t.Context(), first.Addr().String(), http.NotFoundHandler(), quiet)
	require.ErrorContains(t, err, first.Addr().String())
}

func TestHTTPServerReportsThatItsListenerDied(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := lifecycle.NewHTTPServer(listener, http.NotFoundHandler(), quiet)
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, listener.Close())
	select {
	case err := <-server.Failed():
		require.ErrorIs(t, err, net.ErrClosed)
	case <-time.After(patience):
		t.Fatal("a dead listener was not reported")
	}
}

func TestHTTPServerBoundsHeaders(t *testing.T) {
	t.Parallel()
	server := newServer(t, func(http.ResponseWriter, *http.Request) {})
	require.NoError(t, server.Start(t.Context()))
	defer func() { _ = server.Stop(context.Background()) }()
	require.Contains(t, <-get(server, http.Header{"X-Big": {strings.Repeat("a", 32<<10)}}), "200")
	require.Contains(t, <-get(server, http.Header{"X-Big": {strings.Repeat("a", 80<<10)}}), "431")
}
