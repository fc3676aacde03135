package parts

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var russian = Words{
	All: "Все", Created: "Создано", Updated: "Изменено", Finished: "Закончено", Took: "Длительность", Contact: "Контакт", Channel: "Канал", Text: "Текст",
	Status: "Состояние", Version: "Версия", Message: "Сообщение", Run: "Запуск", Scenario: "Сценарий", Event: "Событие", Request: "Запрос к API",
	Deliveries: "Вебхуки", ShowDeliveries: "Доставки этого события",
	MessageStates: map[models.MessageStatus]string{
		models.MessageQueued: "В очереди", models.MessageSending: "Отправляется", models.MessageSent: "Отправлено", models.MessageDelivered: "Доставлено",
		models.MessageFailed: "Не отправлено", models.MessageCancelled: "Отменено", models.MessageUnknown: "Неизвестно",
	},
	DeliveryStates: map[models.DeliveryStatus]string{
		models.DeliveryPending: "Пора отправлять", models.DeliveryInFlight: "Отправляется", models.DeliveryWaiting: "Ждёт следующей попытки",
		models.DeliveryDelivered: "Доставлено", models.DeliveryDeadLetter: "Недоставленное",
		models.DeliveryHeld: "Задержано: адрес приостановлен или отключён", models.DeliveryCancelled: "Отменено: адрес удалён",
	},
	RunStates: map[models.RunStatus]string{
		models.RunQueued: "В очереди", models.RunRunning: "Выполняется", models.RunWaiting: "Ждёт",
		models.RunCompleted: "Завершён", models.RunFailed: "Ошибка", models.RunCancelled: "Отменён",
	},
	Channels:   map[models.Channel]string{models.ChannelSandbox: "Песочница", models.ChannelEmail: "Электронная почта", models.ChannelTelegram: "Telegram"},
	NoMessages: "Сообщений пока нет.", NoRuns: "Запусков пока нет.",
	NoEvents: "Событий ещё нет, или они больше не хранятся.",
	Messages: "Сообщения", Runs: "Запуски", Events: "События",
	Filters: "Фильтры", Apply: "Применить", FilterF: "%s: %s",
	NoMatch: "Ничего не найдено", NoMatchHint: "Уберите один из фильтров или поищите другое.",
	BadTime: "Это не время.", BadFilters: "Фильтр нельзя применить.",
	NotValid: "Пока не сохранено. Исправьте отмеченное.",
	Refused:  "В действии отказано", Changed: "Данные уже изменились",
	ChangedText:        "Кто-то другой или сама платформа изменили их после того, как вы открыли страницу. Ничего не сделано. Посмотрите ещё раз и решите.",
	NotCancellable:     "Отменять уже поздно",
	NotCancellableText: "Работа закончилась или продвинулась дальше, отменять нечего. Ничего не изменено.",
	Ranges:             map[string]string{"24h": "24 часа", "7d": "7 дней", "14d": "14 дней"},
	DeliveriesTitles: map[string]string{
		"24h": "Попытки вебхуков по часам и итогам", "7d": "Попытки вебхуков по трём часам и итогам", "14d": "Попытки вебхуков по шести часам и итогам",
	},
	Delivered: "Доставлено", AnsweredBadly: "Ответ с ошибкой", Unanswered: "Нет ответа",
	NothingSent: "За это время ничего не отправлялось.", NothingAnswered: "За это время ответов не было.",
	LatencyTitle:  "Время до ответа",
	AllDeliveredF: ui.Forms{One: "Доставлена %s попытка – все, что были.", Few: "Доставлены все %s попытки.", Many: "Доставлены все %s попыток."},
	WorstF:        "Не удалось попыток: %s из %s. Хуже всего было с %s: тогда не удалось %s.",
	LatencyF:      "Половина ответов пришла за %s, 95 из 100 – за %s.",
	SparkF:        "Доставлено попыток: %s из %s",
	Notices: NoticeWords{
		Title: "Сообщения о ваших адресах", Dismiss: "Скрыть", DismissF: "Скрыть сообщение о %s",
		FailingF:  "Ничего не доставлено с %%s. До отключения адреса пройдено %d %% пути.",
		Disabled:  "Адрес отключён: ничего не доставлено с %s. Его события ждут, пока вы не включите его снова.",
		Gone:      "Адрес ответил 410 Gone и отключён. Его события ждут, пока вы не включите его снова.",
		Recovered: "Адрес снова принимает события.",
		Kinds:     map[models.NoticeKind]string{models.NoticeFailing: "Адрес продолжает отказывать.", models.NoticeDisabled: "Адрес отключён."},
	},
	LimitedTitle: "Запросы, отклонённые с 429", LimitedF: ui.Forms{One: "За это время отклонён %s запрос.", Few: "За это время отклонены %s запроса.", Many: "За это время отклонено %s запросов."},
	RateUse: "Самый занятый ключ за последний час", RateUseF: "%s из %s запросов за минуту", NoRequests: "За это время запросов к API не было.",
	MinutesTitle: "Запросы по минутам и предел, за последний час", Idle: "За последний час запросов к API не было.", Admitted: "Пропущено, самый занятый ключ", LimitedAll: "Отклонено с 429, все ключи",
	BusiestF: "Самое большее – %s из %s запросов за минуту, ключ %s. С 429 отклонено: %s.", LimitF: "Предел: %s",
	Replayed: "Повторный ответ", Succeeded: "Успешно",
	RequestsF:      "Запросов: %s. Отклонено (4xx): %s, с ошибкой сервера (5xx): %s, получили сохранённый ответ: %s.",
	RequestsTitles: map[string]string{"24h": "Запросы к API по часам и итогам", "7d": "Запросы к API по трём часам и итогам", "14d": "Запросы к API по шести часам и итогам"},
	NotJSONF:       "Это не JSON: строка %d, позиция %d.", AtLineF: "Строка %d, %s: %s",
}
