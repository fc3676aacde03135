package e2e_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/botix-pro/platform/internal/testenv"
)

// block is code as a page shows it, under the name of its file.
type block struct{ name, code string }

// blocks are the code of a page that has a name, as a reader would copy it.
func (s *stack) blocks(t *testing.T, path string) map[string]block {
	t.Helper()
	root, err := html.Parse(strings.NewReader(get(t, s.URL+path, "").Body))
	require.NoError(t, err)
	found := map[string]block{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "figure" {
			continue
		}
		var b block
		for inside := range n.Descendants() {
			switch {
			case inside.Type != html.TextNode:
			case inside.Parent.Data == "figcaption":
				b.name += inside.Data
			case inside.Parent.Data == "code":
				b.code += inside.Data
			}
		}
		found[b.name] = b
	}
	return found
}

// run carries the block out the way the page says, and returns what it printed
// and how it ended.
func (b block) run(t *testing.T, env ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), b.name)
	require.NoError(t, os.WriteFile(file, []byte(b.code), 0o600))
	command := map[string][]string{
		".sh": {"sh"}, ".bash": {testenv.Program(t, "bash")}, ".py": {testenv.Program(t, "python3")}, ".mjs": {testenv.Program(t, "node")},
		".php": {testenv.Program(t, "php")}, ".go": {testenv.Program(t, "go"), "run"},
	}[filepath.Ext(b.name)]
	require.NotEmpty(t, command, b.name)
	process := exec.CommandContext(ctx, command[0], append(command[1:], file)...)
	process.Dir = filepath.Dir(file)
	process.Env = append(os.Environ(), env...)
	output, err := process.CombinedOutput()
	return string(output), err
}

// flaky is what stands between a client and the server: it loses the first
// answer, gives two of its own without a code, and breaks one off.
type flaky struct {
	next http.Handler
	mu   sync.Mutex
	seen int
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen++
	try := f.seen
	f.mu.Unlock()
	switch try {
	case 1: // carried out, and nobody learns of it
		f.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 2:
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><h1>Bad gateway</h1></html>")
	case 3:
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusRequestTimeout)
		_, _ = io.WriteString(w, `{"message": "Timeout"}`)
	case 4:
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "300")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"i`)
		panic(http.ErrAbortHandler)
	default:
		f.next.ServeHTTP(w, r)
	}
}

func startFlaky(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	require.NoError(t, err)
	server := httptest.NewServer(&flaky{next: httputil.NewSingleHostReverseProxy(target)})
	t.Cleanup(server.Close)
	return server.URL
}

func (s *stack) contacts(t *testing.T) []string {
	t.Helper()
	var list struct {
		Data []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(get(t, s.URL+"/contacts?limit=100", s.Key).Body), &list))
	ids := make([]string, 0, len(list.Data))
	for _, contact := range list.Data {
		ids = append(ids, contact.ID)
	}
	return ids
}

// Each program of the quickstart works as it is shown: once over a good line,
// and once over one that loses an answer, breaks one off and has a proxy in it
// that answers by itself. Each run makes one contact.
func TestTheQuickstartWorksWhenPasted(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	blocks := s.blocks(t, "/docs/quickstart")
	var mu sync.Mutex
	var made []string
	t.Run("programs", func(t *testing.T) {
		for _, name := range []string{"quickstart.sh", "quickstart.py", "quickstart.mjs", "quickstart.php", "quickstart.go"} {
			require.Contains(t, blocks, name)
			for firstReplayed, base := range map[string]string{"false": s.URL, "true": startFlaky(t, s.URL)} {
				t.Run(name+" first replayed "+firstReplayed, func(t *testing.T) {
					t.Parallel()
					output, err := blocks[name].run(t, "BOTIX_URL="+base, "BOTIX_API_KEY="+s.Key)
					require.NoError(t, err, "%s: %s", name, output)
					mu.Lock()
					defer mu.Unlock()
					made = append(made, requireOneContact(t, name, output, firstReplayed))
				})
			}
		}
	})
	require.ElementsMatch(t, made, s.contacts(t), "one contact a run")
}

// A wrong key, and a variable that was not set, end a program at once and are
// named.
func TestTheQuickstartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	for name, b := range s.blocks(t, "/docs/quickstart") {
		if !strings.HasPrefix(name, "quickstart.") {
			continue
		}
		began := time.Now()
		output, err := b.run(t, "BOTIX_URL=", "BOTIX_API_KEY="+s.Key)
		if name != "quickstart.py" { // an empty one is no address, and Python says that
			require.Contains(t, output, "BOTIX_URL", name)
		}
		require.Error(t, err, "%s: %s", name, output)
		if name != "quickstart.sh" { // curl only shows what it got
			output, err = b.run(t, "BOTIX_URL="+s.URL, "BOTIX_API_KEY=btx_live_wrong")
			require.Error(t, err, "%s: %s", name, output)
			require.Contains(t, output, "API_KEY_INVALID", name)
		}
		require.Less(t, time.Since(began), time.Minute, name)
	}
}

// requireOneContact reads the two answers that a program shows.
func requireOneContact(t *testing.T, name, output, firstReplayed string) string {
	t.Helper()
	if name == "quickstart.sh" {
		want := map[string]int{"false": 1, "true": 2}[firstReplayed]
		require.Equal(t, want, strings.Count(strings.ToLower(output), "idempotent-replayed: true"), output)
		_, rest, _ := strings.Cut(output, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		require.Equal(t, 2, strings.Count(output, `"id":"`+id+`"`), output)
		return id
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	require.Len(t, lines, 2, output)
	words := strings.Fields(lines[0])
	require.Equal(t, []string{"201", words[1], "replayed:", firstReplayed}, words, "%s: %s", name, output)
	require.Equal(t, "201 "+words[1]+" replayed: true", lines[1], name)
	return words[1]
}

// The other programs of the guides do what the guides say of them.
func TestTheGuidesProgramsWork(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	env := []string{"BOTIX_URL=" + s.URL, "BOTIX_API_KEY=" + s.Key}
	webhooks := s.blocks(t, "/docs/webhooks")
	for _, name := range []string{"verify.sh", "verify.py", "verify.mjs", "verify.php", "verify.go"} {
		require.Contains(t, webhooks, name)
		output, err := webhooks[name].run(t)
		require.NoError(t, err, "%s: %s", name, output)
		require.Equal(t, "genuine\nforged\n", output, name)
	}
	output, err := webhooks["endpoint.sh"].run(t, env...)
	require.NoError(t, err, output)
	require.Contains(t, output, `"secret":"whsec_`)

	asked := s.blocks(t, "/docs/quickstart")["quickstart.sh"]
	asked.code += s.blocks(t, "/docs/idempotency")["status.sh"].code
	output, err = asked.run(t, env...)
	require.NoError(t, err, output)
	require.Contains(t, output, `"status":"completed"`)

	output, err = s.blocks(t, "/docs/rate-limits")["pace.py"].run(t, env...)
	require.NoError(t, err, output)
	require.Equal(t, 3, strings.Count(output, "requests left in this minute"), output)
}

// The examples that verify signatures take nothing for genuine, run nothing and
// do not break when a header is not what it should be, or when the secret is
// empty and anybody could sign.
func TestTheVerifiersTrustNobody(t *testing.T) {
	t.Parallel()
	s := startStack(t, t.TempDir())
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(`evt_1.1700000000.{"id":"evt_1"}`))
	unkeyed := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	trace := filepath.Join(t.TempDir(), "ran")
	const vector = "0OglyWsPfb4JKWOjYgL2qk8cidPnClXPK3gZqqNQ+4Q="
	attacks := map[string]*strings.Replacer{
		"an empty secret":         strings.NewReplacer("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "whsec_", vector, unkeyed),
		"an empty secret, bare":   strings.NewReplacer("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "whsec_", "v1,"+vector, "v1, x"),
		"an empty signature":      strings.NewReplacer("v1,"+vector, ""),
		"a timestamp with a word": strings.NewReplacer(`"1700000000"`, `"abc"`, `'1700000000'`, `'abc'`, `evt_1 1700000000 `, `evt_1 abc `),
		"a timestamp that runs": strings.NewReplacer(`"1700000000"`, `"a[1]"`, `'1700000000'`, `'a[1]'`,
			`evt_1 1700000000 `, `evt_1 'a[$(touch `+trace+`)]' `),
	}
	shown := s.blocks(t, "/docs/webhooks")
	shown["verify.bash"] = block{name: "verify.bash", code: shown["verify.sh"].code}
	for _, name := range []string{"verify.sh", "verify.bash", "verify.py", "verify.mjs", "verify.php", "verify.go"} {
		for attack, change := range attacks {
			changed := block{name: name, code: change.Replace(shown[name].code)}
			require.NotEqual(t, shown[name].code, changed.code, "%s: %s", name, attack)
			output, err := changed.run(t)
			require.NoError(t, err, "%s: %s: %s", name, attack, output)
			require.Contains(t, output, "forged", "%s: %s", name, attack)
			require.NotContains(t, output, "genuine", "%s: %s", name, attack)
		}
	}
	require.NoFileExists(t, trace)
}
