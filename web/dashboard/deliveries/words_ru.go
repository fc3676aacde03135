package deliveries

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var russian = words{
	List: listWords{
		Title:   "Доставки вебхуков",
		Lead:    "Все запросы, отправленные на ваши адреса за последние 14 дней, новые сверху.",
		Caption: "Попытки доставки вебхуков, новые сверху",
		Details: "Подробности", Outcome: "Итог", EventType: "Тип события", Endpoint: "Адрес",
		Try: "Попытка", Started: "Начало", Took: "Длилась",
		DetailsOfF: "Подробности попытки %s", Manual: "вручную",
		Reach: "Просмотрено до %s. Дальше – кнопкой «Старше».", NoOlder: "Старше ничего нет: попытки хранятся 14 дней.",
		EmptyTitle: "За последние 14 дней ничего не доставлялось",
		EmptyLead:  "Каждое событие, на которое подписан ваш адрес, отправляется туда, и каждый такой запрос виден здесь. Чтобы событие появилось, создайте контакт:",
		EmptyKey:   "Подставьте в первую строку один из ключей API проекта.",
		Example:    "Пример запроса",
		PastEnd:    "Попыток на этой странице больше нет: они хранятся 14 дней.",
		ToNewest:   "К самым новым",
	},

	Notices: noticeWords{
		Title: "Сообщения о ваших адресах", Dismiss: "Скрыть", DismissF: "Скрыть сообщение о %s",
		FailingF:  "Ничего не доставлено с %%s. До отключения адреса пройдено %d %% пути.",
		Disabled:  "Адрес отключён: ничего не доставлено с %s. Его события ждут, пока вы не включите его снова.",
		Gone:      "Адрес ответил 410 Gone и отключён. Его события ждут, пока вы не включите его снова.",
		Recovered: "Адрес снова принимает события.",
		Kinds:     map[models.NoticeKind]string{models.NoticeFailing: "Адрес продолжает отказывать.", models.NoticeDisabled: "Адрес отключён."},
	},

	Attempt: attemptWords{
		Title: "Попытка доставки", Back: "Все доставки",
		Request: "Запрос", Answer: "Ответ", Payload: "Данные", Headers: "Заголовки", Body: "Тело", IDs: "Идентификаторы",
		Timing: "На что ушло время", About: "Эта попытка",
		Outcome: "Итог", Error: "Ошибка", Number: "Попытка", Delivery: "Доставка", Started: "Начало", Exact: "Точно",
		NextTry: "Следующая попытка", NoNextTry: "Не запланирована", Curl: "Запрос командой curl", Took: "Длилась",
		URL: "URL", Status: "Статус HTTP",
		AutomaticF: "%d из %d на сейчас, автоматическая", ManualF: "%d из %d на сейчас, вручную",
		DNS: "DNS", Connect: "Соединение", TLS: "TLS", FirstByte: "Ожидание ответа", Total: "Всего",
		NoAnswer: "Ответа не было.", NoBody: "У ответа не было тела.", NoHeaders: "Заголовки не сохранены.",
		Hex:   "Тело – не текст UTF-8, показаны его байты.",
		SizeF: "Размер: %s.", CutF: "Сохранены только первые %s.",
		EventID: "Событие", DeliveryID: "Доставка", AttemptID: "Попытка", EndpointID: "Адрес доставки",
		RequestID: "Запрос этой попытки (X-Request-Id)", CausingID: "Запрос к API, вызвавший событие",
		Deliveries: map[models.DeliveryStatus]string{
			models.DeliveryPending: "Пора отправлять", models.DeliveryInFlight: "Отправляется", models.DeliveryWaiting: "Ждёт следующей попытки",
			models.DeliveryDelivered: "Доставлено", models.DeliveryDeadLetter: "Недоставленное",
			models.DeliveryHeld: "Задержано: адрес приостановлен или отключён", models.DeliveryCancelled: "Отменено: адрес удалён",
		},
	},

	Outcomes: outcomeWords{
		Delivered: "Доставлено", Failed: "Отказ", Lost: "Потеряно",
		Classes: map[models.ErrorClass]string{
			models.ErrorDNS: "имя не найдено", models.ErrorRefused: "в соединении отказано", models.ErrorConnectTimeout: "нет соединения",
			models.ErrorTLSExpired: "сертификат истёк", models.ErrorTLSName: "сертификат на другое имя",
			models.ErrorTLSUntrusted: "сертификату нет доверия", models.ErrorTLS: "ошибка TLS", models.ErrorReset: "соединение сброшено",
			models.ErrorReadTimeout: "нет ответа вовремя", models.ErrorTimeout: "слишком долго", models.ErrorConnection: "ошибка соединения",
			models.ErrorBadResponse: "не HTTP", models.ErrorBlockedAddress: "адрес запрещён",
			models.ErrorRedirect: "перенаправление", models.ErrorHTTP1xx: "неожиданный статус", models.ErrorHTTP4xx: "отклонено",
			models.ErrorHTTP5xx: "ошибка сервера", models.ErrorWorkerLost: "отправитель остановился", models.ErrorInternal: "наша ошибка",
		},
	},

	Diagnosis: diagnosisWords{
		DeliveredF: "Ваш адрес ответил %d: событие доставлено.",
		AnsweredF:  "Ваш адрес ответил %d.",
		RedirectF:  "Ваш адрес ответил %d – перенаправлением. Мы не следуем перенаправлениям: укажите конечный адрес.",
		SlowDownF:  "Ваш адрес ответил %d: он просит слать реже.",
		Unknown:    "Попытка не удалась.",
		Classes: map[models.ErrorClass]string{
			models.ErrorDNS:            "Имя вашего сервера не найдено в DNS.",
			models.ErrorRefused:        "Ваш сервер отказал в соединении: на этом порту никто не слушает.",
			models.ErrorConnectTimeout: "Соединиться с вашим сервером вовремя не удалось: возможно, мешает межсетевой экран.",
			models.ErrorTLSExpired:     "Сертификат TLS вашего сервера истёк или ещё не действует.",
			models.ErrorTLSName:        "Сертификат TLS вашего сервера выдан на другое имя.",
			models.ErrorTLSUntrusted:   "Сертификату TLS вашего сервера нет доверия, или его цепочка неполна.",
			models.ErrorTLS:            "Не удалось установить соединение TLS с вашим сервером.",
			models.ErrorReset:          "Ваш сервер закрыл соединение, не ответив.",
			models.ErrorReadTimeout:    "Ваш сервер принял запрос, но не ответил вовремя. Сначала отвечайте, потом работайте.",
			models.ErrorTimeout:        "Обмен с вашим сервером длился слишком долго и был прерван.",
			models.ErrorConnection:     "Соединение с вашим сервером оборвалось.",
			models.ErrorBadResponse:    "То, что ответил ваш сервер, – не ответ HTTP.",
			models.ErrorBlockedAddress: "URL ведёт на адрес, куда вебхуки слать нельзя: разрешены только публичные адреса.",
			models.ErrorWorkerLost:     "Наш отправитель остановился прежде, чем записал ответ. Шаг расписания не потрачен; событие могло дойти до вас.",
			models.ErrorInternal:       "Отправить помешала наша ошибка. Шаг расписания не потрачен; до вас ничего не дошло.",
		},
		NextAt:         "Следующая попытка: %s.",
		DueNow:         "Следующая попытка – сейчас.",
		Sending:        "Следующая попытка уже идёт.",
		Given:          "Доставка в недоставленных: сама она больше не повторится.",
		Held:           "Доставка задержана: адрес приостановлен или отключён.",
		Cancelled:      "Доставка отменена: адрес удалён.",
		LaterDelivered: "Событие доставлено более поздней попыткой.",
		LaterF:         "Были и более поздние попытки. Состояние доставки: %s.",
	},

	Filters:  filterWords{Status: "Итог", Class: "Причина", HTTP: "Статус HTTP", Since: "За последние", ID: "Событие, доставка или запрос"},
	Delivery: deliveryWords{Title: "Доставка вебхука", Attempts: "Попыток", Created: "Создана", None: "Ещё ничего не отправлено, или это было больше 14 дней назад."},
	Retry: retryWords{
		Button: "Повторить", Done: "Повтор поставлен в очередь: то же событие уйдёт сейчас же. Итог появится ниже.",
		Queued: "Попытка уже в очереди.", InFlight: "Прямо сейчас идёт отправка. Дождитесь её итога.", Cancelled: "Адрес удалён: отправлять некуда.",
	},
	Dead: deadWords{
		Title: "Недоставленное", Lead: "Доставки, которые сами больше не повторяются, – по адресам и причинам. Хранятся столько, сколько велит тариф.",
		EmptyTitle: "Недоставленного нет", EmptyText: "Всё доставлено или ещё повторяется.",
		AnsweredF: "Адрес ответил %s", First: "Первая:", Last: "Последняя:", Show: "Показать", GivenUp: "Прекращена", KeptUntil: "Хранится до",
		Question: "Каждая уйдёт снова с первого шага, с тем же идентификатором события. За ходом можно следить и остановить его. Если сомневаетесь, сначала повторите одну вручную.",
		Rate:     "Не больше стольких в секунду", RateHintF: "От 1 до %d; пусто – так быстро, как принимает адрес", RateWrongF: "Скорость – целое число от 1 до %d.",
		CountF:    ui.Forms{One: "%s доставка", Few: "%s доставки", Many: "%s доставок"},
		RetryAllF: ui.Forms{One: "Повторить %s", Few: "Повторить все %s", Many: "Повторить все %s"},
		QuestionF: ui.Forms{One: "Повторить %s доставку?", Few: "Повторить %s доставки?", Many: "Повторить %s доставок?"},
		StartedF:  ui.Forms{One: "Повторяем %s доставку.", Few: "Повторяем %s доставки.", Many: "Повторяем %s доставок."},
		Causes: map[models.DeadLetterCause]string{
			models.CauseRetriesExhausted: "Исчерпаны все повторы", models.CauseWorkerLost: "Наши отправители раз за разом останавливались",
			models.CauseHeldExpired: "Задержана, пока не истёк срок",
		},
		Advice: map[models.DeadLetterCause]string{
			models.CauseRetriesExhausted: "Посмотрите последнюю попытку, устраните причину, повторите одну, потом все.",
			models.CauseWorkerLost:       "Это наша ошибка, а не вашего адреса. Повторите их.",
			models.CauseHeldExpired:      "Адрес слишком долго был приостановлен или отключён. Включите его и повторите.",
			"http":                       "Адрес отказал окончательно, поэтому повторов не было. Устраните причину отказа, повторите одну, потом все.",
		},
	},
}
