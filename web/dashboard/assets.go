package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
)

//go:embed static
var staticFiles embed.FS

// assets serves the stylesheet, the script and the icon under a path that
// changes with their content, so that a browser may keep them for ever.
type assets struct {
	prefix string // "/developers/static/<hash>/"
	files  map[string][]byte
}

func loadAssets() (*assets, error) {
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("list the static files: %w", err)
	}
	loaded := &assets{files: make(map[string][]byte, len(entries))}
	digest := sha256.New()
	for _, entry := range entries { // in the order of their names
		content, err := staticFiles.ReadFile(path.Join("static", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read a static file: %w", err)
		}
		loaded.files[entry.Name()] = content
		digest.Write(fmt.Appendf(nil, "%s %d ", entry.Name(), len(content)))
		digest.Write(content)
	}
	loaded.prefix = pathRoot + "/static/" + hex.EncodeToString(digest.Sum(nil)[:8]) + "/"
	return loaded, nil
}

// ServeHTTP implements [http.Handler].
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(content) // the browser is gone if it fails
}
