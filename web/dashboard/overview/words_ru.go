package overview

import "github.com/botix-pro/platform/web/ui"

//nolint:gochecknoglobals // a constant table
var russian = words{
	Title: "Обзор", Lead: "Что требует внимания сейчас и как дела у вебхуков и запросов к API.", Ranges: "Период",
	Attention: "Требует внимания", Calm: "Сейчас ничего не требует внимания.",
	DeadLetters: "Не доставлено", SeeDeadLetters: "Недоставленные",
	DeadLettersF: ui.Forms{One: "Оставлена %s доставка, самая старая – %s. Сами они больше не повторятся.", Few: "Оставлены %s доставки, самая старая – %s. Сами они больше не повторятся.", Many: "Оставлено %s доставок, самая старая – %s. Сами они больше не повторятся."},
	Disabled:     "Отключён нами", DisabledText: "Отключён %s. События ждут: почините адрес и включите его снова.", SeeEndpoint: "Адрес",
	Failing:  "Отказывает",
	FailingF: ui.Forms{One: "Не удалась %s попытка, и ничего не доставлено с %s.", Few: "Не удались %s попытки, и ничего не доставлено с %s.", Many: "Не удалось %s попыток, и ничего не доставлено с %s."},
	Unsteady: "Работает с перебоями", UnsteadyF: "Не удалось %s попыток из %s за последние %s.",
	KeyExpires: "Ключ истекает", KeyExpiresText: "Ключ API перестанет работать %s. Создайте новый заранее.", SeeKeys: "Ключи API",
	LimitNear: "Близко к пределу", SeeUsage: "Расход и пределы",
	LimitF:  "Ключ израсходовал %s из %s запросов в минуту. За последний час с 429 отклонено запросов: %s. Самая занятая минута началась %s.",
	Figures: "Показатели", DeliveredFigure: "Удачных попыток", WaitingFigure: "Ждут отправки сейчас", DeadFigure: "Недоставленных сейчас", ErrorsFigure: "Запросов к API с ошибкой",
	OfAttemptsF: "всего попыток: %s; было %s за предыдущие %s", OfRequestsF: "всего запросов: %s; было %s за предыдущие %s",
	WaitingNote: "пора отправлять или ждут повтора", DeadNote: "ждут, пока вы их не повторите",
	SeeDeliveries: "Доставки вебхуков",
	LimitFigure:   "Предел запросов, за час", OfLimitF: "самая занятая минута ключа: %s из %s запросов",
	TopFailing: "Адреса с наибольшим числом отказов", Endpoint: "Адрес", MostCommon: "Чаще всего", History: "Попытки по времени", FailedShare: "Отказов",
	TopCauses: "Почему попытки не удаются", Cause: "Причина", Times: "Попыток", NoneFailing: "За это время все попытки удались.",
	Steps: "Первые шаги", StepsF: "Сделано %d из %d", Done: "Сделано", ToDo: "Предстоит",
	StepKey: "Создайте ключ API", StepKeyText: "С ним отправляются запросы. Он показывается один раз.", StepKeyLink: "Ключи API",
	StepRequest: "Отправьте первый запрос", StepRequestF: "Создайте контакт по адресу %s/contacts.", StepRequestLink: "Быстрый старт",
	StepEndpoint: "Добавьте адрес доставки", StepEndpointText: "URL, на который будут приходить ваши события.", StepEndpointLink: "Новый адрес",
	StepDelivery: "Получите первое событие", StepDeliveryText: "Отправьте пробное событие со страницы адреса или создайте контакт.", StepDeliveryLink: "Адреса доставки",
}
