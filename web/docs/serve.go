package docs

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	typeHTML    = "text/html; charset=utf-8"
	pathStyle   = pathRoot + "/docs.css"
	pathScript  = pathRoot + "/docs.js"
	pathIcon    = pathRoot + "/icon.svg"
	cachePolicy = "public, max-age=300"
)

// policy lets a page load its stylesheet, script and icon and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed static
var staticFiles embed.FS

// file is something that is served as it is.
type file struct {
	kind string // the media type
	body []byte
	etag string // of exactly these bytes
}

func newFile(kind string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{kind: kind, body: body, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// statics are the files that pages load.
func statics() map[string]file {
	files := map[string]file{}
	for path, kind := range map[string]string{
		pathStyle: "text/css; charset=utf-8", pathScript: "text/javascript; charset=utf-8", pathIcon: "image/svg+xml",
	} {
		body, err := staticFiles.ReadFile("static" + path[len(pathRoot):])
		if err != nil {
			panic(err) // it is embedded
		}
		files[path] = newFile(kind, body)
	}
	return files
}

// serve answers with the file, or 304 to who has it already.
func (f file) serve(c echo.Context) error {
	c.Response().Header().Set("Content-Type", f.kind)
	c.Response().Header().Set("ETag", f.etag)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(f.body))
	return nil
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", cachePolicy)
		return next(c)
	}
}
