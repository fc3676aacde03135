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

// properties are the nine of contract §§1–5.
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
			ID: "replay", slug: "idempotency#replay", Title: "The same answer",
			Promise: "A repeat gets the first answer to the byte, with Idempotent-Replayed: true and the first try's request id.",
			Values:  map[string]any{"headers": []string{"Idempotent-Replayed", "X-Original-Request-Id"}, "stored": []string{"2xx", "4xx returned by an execution"}},
			ru:      [2]string{"Тот же ответ", "Повтор получает первый ответ байт в байт, с Idempotent-Replayed: true и идентификатором первого запроса."},
		},
		{
			ID: "concurrency", slug: "idempotency#in-progress", Title: "No race",
			Promise: "A repeat while the first request runs is told so at once, on any server. A key whose server died is free within 35 seconds.",
			Values:  map[string]any{"code": models.CodeIdempotencyKeyRunning, "retry_after_seconds": 5, "freed_within_seconds": 35},
			ru:      [2]string{"Без гонок", "Повтор во время первого запроса сразу узнаёт об этом, на любом сервере. Ключ погибшего сервера свободен не позже чем через 35 секунд."},
		},
	}
}

// afterProperties are those of time, failure and load.
func afterProperties() []property {
	return []property{
		{
			ID: "lifetime", slug: "idempotency#lifetime", Title: "A stated lifetime",
			Promise: "The answer is kept for 24 hours (72 on Enterprise). For 7 more days a late repeat is told that it expired, never carried out again.",
			Values: map[string]any{
				"answer_hours": map[string]int{"default": Plans()[0].Limits.IdempotencyTTLHours, "max": 72},
				"then_days":    int(models.TombstoneRetention.Hours()) / 24, "expired": models.CodeIdempotencyKeyExpired,
			},
			ru: [2]string{"Известный срок", "Ответ хранится 24 часа (72 на тарифе Enterprise). Ещё 7 дней поздний повтор узнаёт, что срок истёк, и не выполняется второй раз."},
		},
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
			ID: "pace", slug: "rate-limits#headers", Title: "Announced limits",
			Promise: "Every answer says how many requests are left and when the window ends. 429 and 503 say how long to wait.",
			Values:  map[string]any{"window_seconds": 60, "headers": []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}, "wait": "Retry-After"},
			ru:      [2]string{"Объявленные лимиты", "Каждый ответ сообщает, сколько запросов осталось и когда кончится окно. 429 и 503 говорят, сколько ждать."},
		},
		{
			ID: "recovery", slug: "idempotency#status", Title: "A way back",
			Promise: "A lost answer can be asked for by its key, every attempt is visible, and every webhook that failed for good waits for a person's decision.",
			Values: map[string]any{
				"status": "GET /idempotency-keys/{key}", "webhook_retries": []string{"1m", "15m", "1h", "24h"},
				"dead_letter_days": Plans()[0].Limits.DeadLetterRetentionDays,
			},
			ru: [2]string{"Путь назад", "Потерянный ответ можно запросить по ключу, каждая попытка видна, а каждый окончательно не доставленный вебхук ждёт решения человека."},
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
