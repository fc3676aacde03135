package jobs

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var russian = words{
	Title: "Задания", Lead: "Работа, слишком долгая для одного запроса: загрузка контактов и повторная отправка вебхуков. Законченное хранится 30 дней.", Job: "Задание", Type: "Тип",
	EmptyTitle: "Заданий пока нет", EmptyText: "POST /contacts/bulk запускает загрузку контактов, повтор недоставленного — восстановление.",
	UnderWay: "Выполняются", Ended: "Все задания",
	Types: map[models.JobType]string{
		models.JobContactsBulk: "Загрузка контактов", models.JobWebhookRecovery: "Повторная отправка вебхуков", models.JobWebhookRelease: "Отправка задержанных вебхуков",
	},
	States: map[models.JobStatus]string{
		models.JobQueued: "В очереди", models.JobRunning: "Выполняется", models.JobCompleted: "Выполнено", models.JobFailed: "Ошибка", models.JobCancelled: "Остановлено",
	},
	Rows: map[models.RowStatus]string{
		models.RowCreated: "Создан", models.RowUpdated: "Изменён", models.RowUnchanged: "Без изменений", models.RowFailed: "Ошибка",
	},
	Advice: map[models.JobStatus]string{
		models.JobQueued: "Оно ждёт свободного исполнителя.", models.JobRunning: "Оно выполняется. Что бы ни случилось с исполнителем, другой продолжит с того же места.",
		models.JobCompleted: "Всё пройдено до конца.", models.JobFailed: "Продолжать нельзя. Сделанное осталось сделанным; устраните причину и запустите новое задание для остального.",
		models.JobCancelled: "Его остановили. Сделанное осталось сделанным.",
	},
	Stalled: "Стоит", StalledF: "Ничего не движется уже %s. Потерянный исполнитель заменяется сам; если это продолжается, проверьте, работает ли хоть один исполнитель.",
	Stopping: "Останавливается", StoppingAdvice: "Оно остановится после текущей порции.",
	ProgressOfF: "Ход: %s", DoneF: "%s из %s (%s)", DoneUnknownF: "готово %s", RateF: "%s в секунду", Ends: "закончится примерно в %s",
	FailedF: ui.Forms{One: "из них %s с ошибкой", Few: "из них %s с ошибкой", Many: "из них %s с ошибкой"},
	Total:   "Всего", Processed: "Обработано", Succeeded: "Успешно", Failed: "С ошибкой", Moved: "Последнее движение", Endpoint: "Адрес доставки",
	Params: "Что было запрошено", Results: "Что стало с каждой строкой", Row: "Строка", Outcome: "Итог", Why: "Почему", NoResults: "Строк пока нет.",
	RowsBefore: "Предыдущие строки", RowsAfter: "Следующие строки",
	Stop: "Остановить", GoOn: "Пусть работает", StopTitle: "Остановить это задание?", StopText: "Оно остановится после текущей порции. Сделанное останется, остальное сделано не будет.",
	Stopped: "Заданию велено остановиться.", Began: "Начато",
}
