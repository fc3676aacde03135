package scenarios

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var russian = words{
	Title: "Сценарии", Lead: "Шаги, через которые проходит контакт за секунды или месяцы.", One: "Сценарий", Name: "Название", Steps: "Шагов", Definition: "Описание (JSON)",
	Masked:     "Значения заголовков здесь скрыты: часто это секреты.",
	EmptyTitle: "Сценариев пока нет", EmptyText: "Напишите сценарий здесь в виде JSON или создайте запросом POST /scenarios.",
	States: map[models.ScenarioStatus]string{models.ScenarioDraft: "Черновик", models.ScenarioActive: "Действует", models.ScenarioArchived: "В архиве"},
	New:    "Новый сценарий", NewLead: "Сначала это черновик. Чтобы запускать, включите его.", Create: "Создать черновик", Created: "Черновик создан.",
	Edit: "Изменить", EditTitle: "Изменить сценарий", EditLead: "Сохранённое станет новой версией. Начатые запуски идут по своей.", Save: "Сохранить", Saved: "Сохранено.",
	Conflict:  "Сценарий изменили после того, как вы открыли форму. Введённое сохранено ниже. Сохраните ещё раз, чтобы сделать его новой версией.",
	StepsHint: "Массив шагов в JSON. Шаги ведут только вперёд; «end» — конец.",
	Activate:  "Включить", Activated: "Сценарий действует: его можно запускать.",
	Archive: "В архив", ArchiveTitle: "Отправить сценарий в архив?", ArchiveText: "Новых запусков не будет, начатые продолжатся. Сценарий можно включить снова.", Archived: "Сценарий отправлен в архив.",
	Versions: "Версии", Shown: "показана здесь", OldF: "Это версия %d. Нынешняя — %d.",
	RunTitle: "Запустить для контакта", Run: "Запустить", NotRun: "Не запущено. Исправьте отмеченное.", Started: "Запуск поставлен в очередь.",
	ContactHint: "Идентификатор контакта, ctc_…", Variables: "Переменные", VariablesHint: "Объект JSON или пусто.", AllRuns: "Все запуски",
	NotActive: "Запускать можно только действующий сценарий.",
	Drawing:   "Шаги в виде схемы", Flow: "Схема", End: "Конец", Then: "дальше", YesWay: "да", NoWay: "нет", UntilF: "до %s", StepF: "шаг %d: %s",
	Types: map[string]string{
		scenarios.TypeSendMessage: "Отправить сообщение", scenarios.TypeWait: "Ждать", scenarios.TypeUpdateContact: "Изменить контакт",
		scenarios.TypeCondition: "Условие", scenarios.TypeEmitEvent: "Опубликовать событие", scenarios.TypeHTTPRequest: "HTTP-запрос",
	},
	Operators: map[string]string{
		"eq": "=", "ne": "≠", "gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "contains": "содержит", "not_contains": "не содержит",
		"in": "входит в", "not_in": "не входит в", "exists": "есть", "not_exists": "нет",
	},
	RunsLead: "Контакты на пути через сценарии, сначала новые.", RunsEmptyTitle: "Запусков пока нет", RunsEmptyText: "Откройте действующий сценарий и запустите его для контакта или вызовите POST /scenarios/{id}/run.",
	StepStates: map[models.RunStepStatus]string{
		models.StepPending: "Впереди", models.StepRunning: "Выполняется", models.StepWaiting: "Ждёт", models.StepCompleted: "Готово",
		models.StepFailed: "Ошибка", models.StepCancelled: "Отменён", models.StepSkipped: "Пропущен",
	},
	Timeline: "Шаги", Entered: "Вход", Left: "Выход", Took: "Длительность", Began: "Начат",
	RequestsF:  ui.Forms{One: "%s запрос", Few: "%s запроса", Many: "%s запросов"},
	WaitsUntil: "Продолжится", WaitsFor: "Ждёт сообщения",
	RunAdvice: map[models.RunStatus]string{
		models.RunQueued: "Запуск ждёт свободного исполнителя.", models.RunRunning: "Исполнитель ведёт контакт по шагам.", models.RunWaiting: "Запуск ждёт и продолжится сам.",
		models.RunCompleted: "Запуск дошёл до конца.", models.RunFailed: "Шаг не удался, и запуск закончился. Прежние шаги выполнены. Устраните причину и запустите сценарий снова.",
		models.RunCancelled: "Запуск отменили. Прежние шаги выполнены.",
	},
	RunErrors: map[string]string{
		"CONTACT_DELETED":      "Контакт удалили, и запуск закончился. Делать ничего не нужно.",
		"CONTACT_INVALID":      "Контакт стал бы таким, какой нельзя сохранить. Проверьте значения в шаге.",
		"MESSAGE_INVALID":      "Сообщение не удалось составить: проверьте шаблон и адрес контакта в этом канале.",
		"MESSAGE_FAILED":       "Сообщение не отправлено. Откройте его ниже, чтобы узнать почему.",
		"MESSAGE_CANCELLED":    "Сообщение отменили, и запуск закончился.",
		"MESSAGE_UNKNOWN":      "Неизвестно, отправлено ли сообщение, а шаг велит в таком случае закончить с ошибкой. Запишите итог сообщения и решите, запускать ли снова.",
		"VARIABLE_MISSING":     "У подстановки нет значения. Передайте переменную при запуске или заполните поле контакта.",
		"HTTP_REQUEST_FAILED":  "Другая система отклонила запрос или не ответила вовремя. Исправьте это там и запустите сценарий снова.",
		"HTTP_REQUEST_UNKNOWN": "Ответ на запрос потерян. Проверьте в другой системе, выполнен ли он, и решите, запускать ли снова.",
	},
	CancelRun: "Отменить запуск", GoOn: "Пусть идёт", CancelTitle: "Отменить этот запуск?",
	CancelText: "После текущего шага, который ещё может выполниться, других не будет. Ваши адреса доставки узнают об этом из scenario.run.cancelled.", RunCancelled: "Запуск отменён.",
}
