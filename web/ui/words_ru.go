package ui

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals // a constant table
var russian = Words{
	LanguageTag: "ru", LanguageName: "Русский",
	Product: "BOTIX для разработчиков",
	Skip:    "К содержанию",
	Copy:    "Копировать", CopyOfF: "Копировать: %s", Copied: "Скопировано.",
	Loading: "Загрузка…", Failed: "Не получилось. Повторите или обновите страницу.", Close: "Закрыть", Cancel: "Отмена", Saved: "Сохранено.", Yes: "Да", No: "Нет", None: "–",

	Menu: "Меню", Main: "Основное",
	Nav: NavWords{
		Monitor: "Наблюдение", Send: "Отправка", Configure: "Настройка", Learn: "Справка",
		Overview: "Обзор", Requests: "Запросы", Deliveries: "Доставки вебхуков", DeadLetters: "Недоставленное", Jobs: "Задания", Inspector: "Инспектор",
		Contacts: "Контакты", Messages: "Сообщения", Scenarios: "Сценарии", Runs: "Запуски",
		Endpoints: "Адреса доставки", Keys: "Ключи API", Usage: "Расход и пределы", Members: "Участники", Docs: "Документация",
		WaitingF: Forms{One: "требует внимания: %s", Few: "требуют внимания: %s", Many: "требуют внимания: %s"},
	},
	Project: "Проект", Switch: "Перейти", Account: "Учётная запись", SignedInAs: "Вы вошли как", SignOut: "Выйти",
	Language: "Язык", Theme: "Оформление",
	LanguageNames: map[Language]string{English: "English", Russian: "Русский"},
	ThemeNames:    map[string]string{"": "Как в системе", "light": "Светлое", "dark": "Тёмное"},
	Apply:         "Применить", Plan: "Тариф:",
	Modes: map[models.Mode]string{models.ModeLive: "Боевой", models.ModeTest: "Тестовый"},
	Plans: map[string]string{"trial": "Пробный", "start": "Старт", "business": "Бизнес", "enterprise": "Корпоративный"},
	Find:  "Найти", FindHint: "Любой идентификатор или ключ идемпотентности",
	Pages: "Страницы", Newer: "Новее", Older: "Старше",
	FiltersOn: "Включённые фильтры", ClearAll: "Сбросить все", RemoveFilterF: "Убрать фильтр: %s",
	Updated: "Обновлено: %s", Refresh: "Обновить", TimesInF: "Время указано для %s.", ShowAsTable: "Показать таблицей",
	Documentation: "Документация",
	From:          "Начало", NotOver: "ещё идёт", LastPartial: "Заштрихованный столбец ещё не закончился.",

	Months:      [12]string{"янв.", "февр.", "марта", "апр.", "мая", "июня", "июля", "авг.", "сент.", "окт.", "нояб.", "дек."},
	PercentSign: "\u00a0%", MillisecondsF: "%s мс", SecondsF: "%s с",
	DaysF: "%d д", HoursF: "%d ч", MinutesF: "%d мин", WholeSecondsF: "%d с",
	KibibytesF: "%s КиБ", MebibytesF: "%s МиБ", BytesF: Forms{One: "%s байт", Few: "%s байта", Many: "%s байт"},
}
