package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/webhooks"
	"github.com/botix-pro/platform/internal/testenv"
	"github.com/botix-pro/platform/web/docs"
)

var guides = []string{"", "/quickstart", "/idempotency", "/retries", "/rate-limits", "/webhooks"}

// Every guide has a Russian twin with the same places, the same code, the same
// tables row by row, and words of its own.
func TestGuidesAreTheSameInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, slug := range guides {
		en, ru := parse(t, "/docs"+slug), parse(t, "/ru/docs"+slug)
		require.Equal(t, ids(en), ids(ru), slug)
		require.Equal(t, texts(en, "pre"), texts(ru, "pre"), slug)
		require.Len(t, elements(ru, named("tr")), len(elements(en, named("tr"))), slug)
		require.Len(t, elements(ru, named("li")), len(elements(en, named("li"))), slug)
		require.NotEqual(t, texts(en, "h1"), texts(ru, "h1"), slug)
		for _, paragraph := range elements(ru, func(n *html.Node) bool { return n.Data == "p" && n.Parent.Data == "article" }) {
			require.True(t, strings.ContainsAny(text(paragraph), "абвеиостн"), "%s: %s", slug, text(paragraph))
		}
	}
}

func ids(root *html.Node) []string {
	var list []string
	for _, n := range elements(root, func(n *html.Node) bool { return attribute(n, "id") != "" }) {
		list = append(list, n.Data+"#"+attribute(n, "id"))
	}
	return list
}

func texts(root *html.Node, name string) []string {
	var list []string
	for _, n := range elements(root, named(name)) {
		list = append(list, text(n))
	}
	return list
}

// A page that exists in English only says so in Russian, and says which part is
// in which language.
func TestPagesInEnglishSaySoInRussian(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"/error-codes", "/changelog", "/api", "/api/contacts"} {
		root := parse(t, "/ru/docs"+slug)
		article := elements(root, named("article"))[0]
		require.Equal(t, "en", attribute(article, "lang"), slug)
		notice := elements(article, func(n *html.Node) bool { return attribute(n, "class") == "notice" })
		require.Len(t, notice, 1, slug)
		require.Equal(t, "ru", attribute(notice[0], "lang"))
		require.Equal(t, "Эта страница — на английском языке.", text(notice[0]))
		require.NotContains(t, get(t, "/docs"+slug).Body.String(), `class="notice"`)
	}
}

// The table of retries says of every code what the catalogue says, in both
// languages, and leaves none out.
func TestTheRetriesAgreeWithTheCatalogue(t *testing.T) {
	t.Parallel()
	words := map[string]map[any]string{
		"/docs":    {true: "Yes", false: "No", models.Applied: "Yes", models.NotApplied: "No", models.OutcomeUnknown: "Unknown"},
		"/ru/docs": {true: "Да", false: "Нет", models.Applied: "Да", models.NotApplied: "Нет", models.OutcomeUnknown: "Неизвестно"},
	}
	for prefix, said := range words {
		told := map[string][]string{}
		for _, row := range elements(elements(parse(t, prefix+"/retries"), named("table"))[0], named("tr")) {
			cells := texts(row, "td")
			for _, code := range texts(row, "code") {
				told[code] = cells
			}
			if len(cells) > 0 {
				require.Len(t, elements(row, func(n *html.Node) bool { return n.Data == "a" && attribute(n, "id") != "" }), 1, "a place: %s", cells[0])
			}
		}
		for _, entry := range models.Catalogue() {
			cells := told[string(entry.Code)]
			require.Len(t, cells, 6, entry.Code)
			require.Contains(t, cells[0], strconv.Itoa(entry.Status))
			require.Equal(t, said[entry.Outcome], strings.Split(cells[1], ",")[0], entry.Code)
			require.Equal(t, said[entry.Retryable], cells[2], entry.Code)
		}
	}
}

// Every reason for which an attempt or a delivery fails has its place.
func TestEveryReasonHasItsPlace(t *testing.T) {
	t.Parallel()
	page := parse(t, "/docs/webhooks")
	places := map[string]bool{}
	for _, n := range elements(page, named("h3")) {
		places[attribute(n, "id")] = true
	}
	reasons := reasonsOf(t, "ErrorClass", "DeadLetterCause")
	require.Greater(t, len(reasons), 20)
	for _, reason := range reasons {
		require.True(t, places[reason], reason)
	}
}

// reasonsOf are the constants of the types, as the source has them.
func reasonsOf(t *testing.T, types ...string) []string {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), "../../app/models/webhook.go", nil, 0)
	require.NoError(t, err)
	var found []string
	ast.Inspect(source, func(n ast.Node) bool {
		constant, ok := n.(*ast.ValueSpec)
		if !ok || constant.Type == nil || len(constant.Values) == 0 {
			return true
		}
		for _, name := range types {
			if ident, ok := constant.Type.(*ast.Ident); ok && ident.Name == name {
				value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				found = append(found, value)
			}
		}
		return true
	})
	return found
}

// The times on the page are those of the schedule.
func TestTheScheduleIsTheSenders(t *testing.T) {
	t.Parallel()
	units := strings.NewReplacer("\u00a0", "", "min", "m")
	var told []time.Duration
	for _, table := range elements(parse(t, "/docs/webhooks"), named("table")) {
		for _, row := range elements(table, named("tr")) {
			cells := texts(row, "td")
			if len(cells) == 3 && len(cells[0]) == 1 && cells[0] > "1" {
				delay, err := time.ParseDuration(units.Replace(cells[1]))
				require.NoError(t, err)
				told = append(told, delay)
			}
		}
	}
	require.Equal(t, webhooks.DefaultSchedule(), webhooks.Schedule(told))
	require.Equal(t, webhooks.DefaultSchedule(), webhooks.Schedule(cardSchedule(t)))
}

// cardSchedule is what programs are told.
func cardSchedule(t *testing.T) []time.Duration {
	t.Helper()
	var card struct {
		Properties []struct {
			ID     string
			Values struct {
				Retries []string `json:"webhook_retries"`
			}
		}
	}
	require.NoError(t, jsonOf(t, "/.well-known/botix.json", &card))
	var delays []time.Duration
	for _, p := range card.Properties {
		for _, retry := range p.Values.Retries {
			delay, err := time.ParseDuration(retry)
			require.NoError(t, err)
			delays = append(delays, delay)
		}
	}
	return delays
}

// The signature in the examples is what the sender makes.
func TestTheVectorIsTheSenders(t *testing.T) {
	t.Parallel()
	secret, err := webhooks.ParseSecret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
	require.NoError(t, err)
	signature := webhooks.Sign("evt_1", time.Unix(1700000000, 0), []byte(`{"id":"evt_1"}`), []webhooks.Secret{secret}).Standard()
	count := 0
	for _, code := range texts(parse(t, "/docs/webhooks"), "code") {
		if strings.Contains(code, "webhook-id") && strings.Contains(code, "\n") || strings.Contains(code, "openssl") {
			require.Contains(t, code, signature)
			count++
		}
	}
	require.Equal(t, 5, count, "five languages")
}

// The plans are those that the migrations plant.
func TestThePlansAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	connection, err := pgx.Connect(t.Context(), testenv.DatabaseURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close(t.Context()) })
	rows, err := connection.Query(t.Context(), "SELECT id, name, limits FROM plans ORDER BY (limits->>'api_rate_per_minute')::int")
	require.NoError(t, err)
	planted, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (models.Plan, error) {
		var p models.Plan
		var limits []byte
		if err := row.Scan(&p.ID, &p.Name, &limits); err != nil {
			return p, err
		}
		var err error
		p.Limits, err = models.ParsePlanLimits(limits)
		return p, err
	})
	require.NoError(t, err)
	require.Equal(t, planted, docs.Plans())
}

func jsonOf(t *testing.T, path string, into any) error {
	t.Helper()
	answer := get(t, path)
	require.Equal(t, http.StatusOK, answer.Code)
	return json.Unmarshal(answer.Body.Bytes(), into)
}
