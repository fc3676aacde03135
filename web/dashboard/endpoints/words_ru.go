package endpoints

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals,gosec // a constant table; the words are no credentials
var russian = words{
	Title: "Адреса доставки", Lead: "Куда уходят ваши события и как это получалось за последние 24 часа.", One: "Адрес доставки",
	EmptyTitle: "Адресов доставки пока нет", EmptyText: "Создайте его запросом POST /webhook-endpoints: выбранные события будут приходить на его URL.",
	URL: "URL", State: "Состояние", Types: "Типы событий", Day: "Доставлено за 24 часа", Nothing: "Ничего не отправлено", SuccessF: "%s из %s",
	LastSuccess: "Последний успех", FailingSince: "Отказывает с", InFlight: "Одновременно, не больше", Rate: "В секунду, не больше", NoRate: "Как успевает принимать",
	Headers: "Свои заголовки", Attempts: "Его попытки",
	Pause: "Приостановить", Paused: "Адрес приостановлен. Его события ждут.", Resume: "Включить и отправить задержанное", Resumed: "Адрес снова работает.",
	ResumeDrop: "Включить и отбросить задержанное", HeldText: "События, пришедшие за это время, задержаны.",
	Test: "Отправить пробное событие", Tested: "Пробное событие отправляется. Итог появится здесь, обновите страницу.",
	Rotate: "Новый секрет", RotateText: "Прежний секрет ещё 24 часа подписывает тоже, чтобы при смене ничего не было отвергнуто.",
	Secret: "Новый секрет", SecretLead: "Скопируйте его сейчас: больше мы его не покажем.", SecretUntil: "Прежний тоже подписывает до %s.",
	Delete: "Удалить", DeleteTitle: "Удалить этот адрес?", DeleteText: "Ожидающие доставки будут отменены. Вернуть это нельзя.", Deleted: "Адрес удалён.",
	OwnersTitle: "Это могут только владельцы", OwnersText: "Попросите владельца проекта. Кто это, видно на странице участников.",
	States: map[models.EndpointStatus]string{models.EndpointActive: "Работает", models.EndpointPaused: "Приостановлен вами", models.EndpointDisabled: "Отключён нами"},
	Means: map[models.EndpointStatus]string{
		models.EndpointActive: "События отправляются, как только приходят.", models.EndpointPaused: "Вы его приостановили. События ждут, пока вы его не включите.",
		models.EndpointDisabled: "Он отказывал несколько дней или ответил 410 Gone. Почините его и включите: его события ждут.",
	},
}
