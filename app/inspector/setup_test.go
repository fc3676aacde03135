package inspector_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/app/inspector"
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/clock"
	"github.com/botix-pro/platform/internal/seal"
	"github.com/botix-pro/platform/internal/testenv"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // where GORM complains
	testenv.Main(m)
}

const (
	waitFor = 15 * time.Second
	tick    = 10 * time.Millisecond
)

// site is an inspector on a listener, with a project.
type site struct {
	t        *testing.T
	store    *store.Store
	project  models.ProjectID
	desk     *inspector.Desk
	capture  *inspector.Capture
	registry *prometheus.Registry
	url      string
	addr     string
}

// newSite starts an inspector; change, optional, sees its server before it starts.
func newSite(t *testing.T, limits inspector.Limits, change ...func(*http.Server)) *site {
	t.Helper()
	return newSiteOn(t, testenv.DatabaseURL(t), limits, change...)
}

func newSiteOn(t *testing.T, database string, limits inspector.Limits, change ...func(*http.Server)) *site {
	t.Helper()
	box, err := seal.New([]string{seal.NewKey()})
	require.NoError(t, err)
	st, err := store.Open(t.Context(), store.Config{URL: database, MaxConns: 8, Application: "botix-test"}, box)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.KeepPartitions(t.Context()))
	s := &site{t: t, store: st, registry: prometheus.NewRegistry()}
	s.project = s.newProject()
	s.capture = inspector.NewCapture(inspector.CaptureConfig{
		Store: st, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Registry: s.registry, Limits: limits,
	})
	server := httptest.NewUnstartedServer(s.capture)
	server.Config.MaxHeaderBytes = 64 << 10
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	for _, apply := range change {
		apply(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(s.capture.Hurry)
	s.url, s.addr = server.URL, server.Listener.Addr().String()
	s.desk = inspector.NewDesk(st, "BOTIX-Webhooks/test", s.url)
	return s
}

func (s *site) newProject() models.ProjectID {
	s.t.Helper()
	now := clock.System{}.Now()
	project := models.ProjectID(models.NewID(models.PrefixProject, now))
	_, err := s.store.Write(s.t.Context(), project, func(tx *store.Tx) error {
		tx.CreateProject(models.Project{Name: "Test", Mode: models.ModeLive, PlanID: "start", APIVersion: models.CurrentAPIVersion, CreatedAt: now})
		return nil
	})
	require.NoError(s.t, err)
	return project
}

// write does something in a transaction of the project.
func (s *site) write(do func(tx *store.Tx) error) error {
	_, err := s.store.Write(s.t.Context(), s.project, do)
	return err
}

func (s *site) newBin(script ...models.BinScript) *models.Bin {
	s.t.Helper()
	var bin *models.Bin
	require.NoError(s.t, s.write(func(tx *store.Tx) (err error) {
		bin, err = s.desk.Create(s.t.Context(), tx, "Test")
		if err != nil || len(script) == 0 {
			return err
		}
		require.NoError(s.t, script[0].Validate())
		return tx.SetBinScript(s.t.Context(), bin.ID, script[0])
	}))
	return bin
}

func (s *site) bin(id string) *models.Bin {
	s.t.Helper()
	bin, err := s.store.Bin(s.t.Context(), s.project, id)
	require.NoError(s.t, err)
	return bin
}

// shown is what a bin shows, newest first, bodies included.
func (s *site) shown(id string) []models.CapturedRequest {
	s.t.Helper()
	list, err := s.store.CapturedRequests(s.t.Context(), s.bin(id), 0, models.CapturedKept)
	require.NoError(s.t, err)
	for i := range list {
		whole, err := s.store.CapturedRequest(s.t.Context(), s.project, list[i].ID)
		require.NoError(s.t, err)
		list[i] = *whole
	}
	return list
}

func (s *site) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.store.DB().ExecContext(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

// reply is an answer read as far as it came.
type reply struct {
	status int
	header http.Header
	body   string
	broken error
}

// send makes one request on a connection of its own.
func (s *site) send(ctx context.Context, method, path, body string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	return reply{status: response.StatusCode, header: response.Header, body: string(got), broken: err}, nil
}

func (s *site) post(bin *models.Bin) reply {
	s.t.Helper()
	got, err := s.send(s.t.Context(), http.MethodPost, "/"+bin.ID, "{}")
	require.NoError(s.t, err)
	return got
}

// raw writes bytes and returns the status line of the answer; empty: none came.
func (s *site) raw(parts ...string) string {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.addr)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(waitFor)))
	for _, part := range parts {
		if _, err := io.WriteString(conn, part); err != nil {
			break // cut off: what was answered can still be read
		}
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}
