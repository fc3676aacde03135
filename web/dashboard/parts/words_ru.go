package parts

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals // a constant table
var russian = Words{
	All: "Все", Created: "Создано", Updated: "Изменено", Finished: "Закончено", Took: "Длительность", Contact: "Контакт", Channel: "Канал", Text: "Текст",
	Status: "Состояние", Version: "Версия", Message: "Сообщение", Run: "Запуск", Scenario: "Сценарий", Event: "Событие", Request: "Запрос к API",
	Deliveries: "Вебхуки", ShowDeliveries: "Доставки этого события",
	MessageStates: map[models.MessageStatus]string{
		models.MessageQueued: "В очереди", models.MessageSending: "Отправляется", models.MessageSent: "Отправлено", models.MessageDelivered: "Доставлено",
		models.MessageFailed: "Не отправлено", models.MessageCancelled: "Отменено", models.MessageUnknown: "Неизвестно",
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
	TimeHint: "В вашем часовом поясе или в формате RFC 3339.",
	NotValid: "Пока не сохранено. Исправьте отмеченное.",
	Refused:  "В действии отказано", Changed: "Данные уже изменились",
	ChangedText: "Кто-то другой или сама платформа изменили их после того, как вы открыли страницу. Ничего не сделано. Посмотрите ещё раз и решите.",
	ReadAgain:   "Посмотреть ещё раз", NotCancellable: "Отменять уже поздно",
	NotCancellableText: "Работа закончилась или продвинулась дальше, отменять нечего. Ничего не изменено.",
	MaybeSentText:      "Прежняя попытка могла дойти до получателя: ответ на неё потерян. Платформа повторит сообщение под тем же ключом и узнает исход. Ничего не изменено.",
	NotJSONF:           "Это не JSON: строка %d, позиция %d.", AtLineF: "Строка %d, %s: %s",
}
