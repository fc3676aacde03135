package docs

import "strings"

// language is what a page is written in, as the lang attribute names it.
type language string

const (
	english language = "en"
	russian language = "ru"
)

// languages lists them, the one whose addresses have no prefix first.
func languages() []language { return []language{english, russian} }

// prefix stands before /docs in the addresses of the language.
func (l language) prefix() string {
	if l == english {
		return ""
	}
	return "/" + string(l)
}

// path is the address of a page in the language.
func (l language) path(slug string) string {
	return strings.TrimSuffix(l.prefix()+pathRoot+"/"+slug, "/")
}

// words are the language's texts around the pages.
func (l language) words() *words {
	if l == russian {
		return &wordsRU
	}
	return &wordsEN
}

// words are the texts of the layout and of tables made by the code.
type words struct {
	Name      string // of the language, in the language
	Docs      string // the documentation
	Skip      string
	Dashboard string
	Spec      string
	Guides    string // the group of the navigation
	Reference string
	OnPage    string
	Language  string
	Copy      string
	Copied    string
	Foreign   string // the notice over a page that exists in English only
	// Titles are what the navigation calls pages that exist in English only.
	Titles    map[string]string
	Missing   string // the title of the page for what is not there
	MissingIs string
	Table     string // the name of a table: "Table: " and its heading
	Code      string
	Yes, No   string
	// Happened says for an outcome of the catalogue whether anything was done.
	Happened map[string]string
	// State is the labels of the picture of a key's life.
	State statePicture
}

// statePicture is the labels in guides/state.svg.
type statePicture struct {
	Title, Unknown, First, Commit, Rollback, TTL, Forgotten, Same, Running, Expired string
}

//nolint:gochecknoglobals // a constant table
var wordsEN = words{
	Name: "English", Docs: "Documentation", Skip: "Skip to content", Dashboard: "Dashboard", Spec: "openapi.yaml",
	Guides: "Guides", Reference: "Reference", OnPage: "On this page", Language: "Language", Copy: "Copy", Copied: "Copied",
	Foreign: "This page is in English.",
	Missing: "Page not found", MissingIs: "There is no such page. Look for it in the navigation, or start from the beginning.",
	Table: "Table", Code: "Code", Yes: "Yes", No: "No",
	Happened: map[string]string{"applied": "Yes", "not_applied": "No", "unknown": "Unknown"},
	State: statePicture{
		Title:   "The life of a key: unknown, in progress, completed, expired, and unknown again.",
		Unknown: "unknown", First: "first request", Commit: "COMMIT", Rollback: "4xx not stored, 5xx, crash: rolled back",
		TTL: "expires_at", Forgotten: "7 days later", Same: "the same request: stored answer", Running: "a repeat: 409 IN_PROGRESS",
		Expired: "a repeat: 409 EXPIRED",
	},
}

//nolint:gochecknoglobals // a constant table
var wordsRU = words{
	Name: "Русский", Docs: "Документация", Skip: "К содержанию", Dashboard: "Кабинет", Spec: "openapi.yaml",
	Guides: "Руководства", Reference: "Справочник", OnPage: "На этой странице", Language: "Язык", Copy: "Копировать", Copied: "Скопировано",
	Foreign: "Эта страница — на английском языке.",
	Titles:  map[string]string{"error-codes": "Коды ошибок", "changelog": "Список изменений", slugReference: "Справочник API"},
	Missing: "Страница не найдена", MissingIs: "Такой страницы нет. Найдите нужную в меню или начните сначала.",
	Table: "Таблица", Code: "Код", Yes: "Да", No: "Нет",
	Happened: map[string]string{"applied": "Да", "not_applied": "Нет", "unknown": "Неизвестно"},
	State: statePicture{
		Title:   "Жизнь ключа: неизвестен, выполняется, завершён, истёк и снова неизвестен.",
		Unknown: "неизвестен", First: "первый запрос", Commit: "COMMIT", Rollback: "несохраняемые 4xx, 5xx, сбой: откат",
		TTL: "expires_at", Forgotten: "через 7 дней", Same: "тот же запрос: сохранённый ответ", Running: "повтор: 409 IN_PROGRESS",
		Expired: "повтор: 409 EXPIRED",
	},
}
