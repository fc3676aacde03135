package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/botix-pro/platform/app/models"
)

// pathCard is where programs read what people read on the first page.
const pathCard = "/.well-known/botix.json"

// card is the nine properties of the contract, as JSON.
type card struct {
	Name       string     `json:"name"`
	APIVersion string     `json:"api_version"`
	Docs       string     `json:"docs"`
	OpenAPI    string     `json:"openapi"`
	Properties []property `json:"properties"`
}

// property is one thing that the contract promises.
type property struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Promise string         `json:"promise"`
	Values  map[string]any `json:"values"`
	Docs    string         `json:"docs"` // an address
	slug    string         // the page and the place on it
	ru      [2]string      // title and promise in Russian
}

// in returns title and promise in a language.
func (p *property) in(lang language) (title, promise string) {
	if lang == russian {
		return p.ru[0], p.ru[1]
	}
	return p.Title, p.Promise
}

// properties are the nine questions that a reliable contract answers: operation,
// key, fingerprint, result, concurrency, errors, budget, recovery, visibility.
func properties() []property {
	return append(operationProperties(), afterProperties()...)
}

// operationProperties are those of one operation and its key.
func operationProperties() []property {
	return []property{
		{
			ID: "effect", slug: "idempotency#effect", Title: "One effect",
			Promise: "A key has at most one effect. Your rows, the events, their deliveries and the stored answer are committed in one transaction.",
			Values:  map[string]any{"effects_per_key": 1, "atomic": []string{"rows", "events", "deliveries", "answer"}},
			ru:      [2]string{"Один эффект", "У ключа не больше одного эффекта. Ваши данные, события, их доставки и сохранённый ответ фиксируются одной транзакцией."},
		},
		{
			ID: "key", slug: "idempotency#key", Title: "A mandatory key",
			Promise: "Every POST, PUT, PATCH and DELETE carries an Idempotency-Key. It belongs to the project, so changing API keys between two tries is still one operation.",
			Values: map[string]any{
				"header": "Idempotency-Key", "methods": []string{"POST", "PUT", "PATCH", "DELETE"}, "max_length": 255, "scope": "project",
				"missing": models.CodeIdempotencyKeyRequired,
			},
			ru: [2]string{"Обязательный ключ", "Каждый POST, PUT, PATCH и DELETE несёт Idempotency-Key. Ключ принадлежит проекту: смена ключа API между попытками не создаёт новую операцию."},
		},
		{
			ID: "fingerprint", slug: "idempotency#fingerprint", Title: "A fingerprint",
			Promise: "The same key with another method, path, query, media type or body is refused and never carried out.",
			Values: map[string]any{
				"hash": "SHA-256", "over": []string{"method", "path", "query", "media_type", "body"}, "mismatch": models.CodeIdempotencyKeyReuse,
			},
			ru: [2]string{"Отпечаток", "Тот же ключ с другим методом, путём, параметрами, типом или телом отклоняется и никогда не выполняется."},
		},
		{
			ID: "result", slug: "idempotency#lifetime", Title: "The same answer, for a stated time",
			Promise: "A repeat gets the first answer to the byte for 24 hours (72 on Enterprise). For 7 more days it is told that the answer expired, never carried out again.",
			Values: map[string]any{
				"headers": []string{"Idempotent-Replayed", "X-Original-Request-Id"}, "stored": []string{"2xx", "4xx returned by an execution"},
				"answer_hours": map[string]int{"default": Plans()[0].Limits.IdempotencyTTLHours, "max": 72},
				"then_days":    int(models.TombstoneRetention.Hours()) / 24, "expired": models.CodeIdempotencyKeyExpired,
			},
			ru: [2]string{"Тот же ответ и известный срок", "Повтор получает первый ответ байт в байт 24 часа (72 на тарифе Enterprise). Ещё 7 дней он узнаёт, что срок истёк, и не выполняется второй раз."},
		},
		{
			ID: "concurrency", slug: "idempotency#in-progress", Title: "No race",
			Promise: "A repeat while the first request runs is told so at once, on any server. A key whose server died is free within 35 seconds.",
			Values:  map[string]any{"code": models.CodeIdempotencyKeyRunning, "retry_after_seconds": 5, "freed_within_seconds": 35},
			ru:      [2]string{"Без гонок", "Повтор во время первого запроса сразу узнаёт об этом, на любом сервере. Ключ погибшего сервера свободен не позже чем через 35 секунд."},
		},
	}
}

// afterProperties are those of failure, time and what is left to people.
func afterProperties() []property {
	return []property{
		{
			ID: "errors", slug: "retries#fields", Title: "Errors that decide",
			Promise: "Every error says in machine-readable words whether anything was applied and whether the same request can help.",
			Values: map[string]any{
				"media_type": "application/problem+json", "fields": []string{"code", "outcome", "retryable", "scope", "request_id"},
				"outcomes": []models.Outcome{models.NotApplied, models.Applied, models.OutcomeUnknown},
			},
			ru: [2]string{"Ошибки, по которым можно решать", "Каждая ошибка машиночитаемо сообщает, применено ли что-нибудь и поможет ли тот же запрос."},
		},
		{
			ID: "budget", slug: "retries#rules", Title: "A budget of time and tries",
			Promise: "An operation ends within 30 seconds. Wait 40 for it, repeat in one layer with growing pauses, no sooner than Retry-After says. Every answer says how many requests are left.",
			Values: map[string]any{
				"operation_seconds": 30, "try_seconds": 40, "pause_seconds": []float64{0.5, 30}, "pause_factor": 2, "jitter": 0.5,
				"wait": "Retry-After", "headers": []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
			},
			ru: [2]string{"Запас времени и попыток", "Операция заканчивается за 30 секунд. Ждите её 40, повторяйте на одном уровне, с растущими паузами и не раньше, чем велит Retry-After. Каждый ответ сообщает, сколько запросов осталось."},
		},
		{
			ID: "recovery", slug: "idempotency#status", Title: "A way back",
			Promise: "A lost answer can be asked for by its key. A webhook is repeated after 1 min, 15 min, 1 h and 24 h, and then waits for a person's decision.",
			Values: map[string]any{
				"status": "GET /idempotency-keys/{key}", "webhook_retries": []string{"1m", "15m", "1h", "24h"},
				"dead_letter_days": Plans()[0].Limits.DeadLetterRetentionDays,
			},
			ru: [2]string{"Путь назад", "Потерянный ответ можно запросить по ключу. Вебхук повторяется через 1 мин, 15 мин, 1 ч и 24 ч, а затем ждёт решения человека."},
		},
		{
			ID: "visibility", slug: "idempotency#visibility", Title: "Visible, and mended by people",
			Promise: "Every physical attempt is shown with its request id beside the one operation it belongs to. A person settles what stayed unknown, without editing a database.",
			Values:  map[string]any{"attempt": []string{"request_id", "at", "status", "replayed"}, "shown": []string{"GET /idempotency-keys/{key}", "/developers"}},
			ru:      [2]string{"Всё видно и исправимо", "Каждая физическая попытка видна со своим request_id рядом с операцией, к которой относится. Неизвестный исход решает человек, не правя базу данных."},
		},
	}
}

// cardJSON is the card for programs.
func cardJSON(base string) ([]byte, error) {
	list := properties()
	for i := range list {
		list[i].Docs = base + pathRoot + "/" + list[i].slug
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(card{
		Name: "BOTIX Pro API", APIVersion: models.CurrentAPIVersion, Docs: base + pathRoot, OpenAPI: base + "/openapi.yaml", Properties: list,
	})
	if err != nil {
		return nil, fmt.Errorf("write the card: %w", err)
	}
	return out.Bytes(), nil
}

// cardHTML is the card for people.
func cardHTML(lang language) (string, error) {
	var out strings.Builder
	out.WriteString(`<ol class="card">`)
	for _, p := range properties() {
		title, promise := p.in(lang)
		_, _ = fmt.Fprintf(&out, `<li id="%s"><a href="%s">%s</a> <span>%s</span></li>`, p.ID, lang.path(p.slug),
			template.HTMLEscapeString(title), template.HTMLEscapeString(promise))
	}
	out.WriteString("</ol>")
	return out.String(), nil
}
