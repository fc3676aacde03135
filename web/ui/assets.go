package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
)

//go:embed static
var staticFiles embed.FS

// Assets serves the stylesheets, scripts and pictures under a path that changes
// with their content, so that a browser may keep them for ever. It is an
// [http.Handler] for paths whose last part is the wildcard {name}.
type Assets struct {
	prefix string // "<base>/static/<hash>/"
	files  map[string][]byte
}

// LoadAssets reads the embedded files, to be served below base.
func LoadAssets(base string) (*Assets, error) {
	loaded := &Assets{files: map[string][]byte{}}
	digest := sha256.New()
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error { // in the order of their names
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		loaded.files[path.Base(name)] = content
		digest.Write(fmt.Appendf(nil, "%s %d ", name, len(content)))
		digest.Write(content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the static files: %w", err)
	}
	loaded.prefix = base + "/static/" + hex.EncodeToString(digest.Sum(nil)[:8]) + "/"
	return loaded, nil
}

// Prefix is the path of the files, with its last slash.
func (a *Assets) Prefix() string { return a.prefix }

// ServeHTTP implements [http.Handler].
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
