package inspector

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals // a constant table
var russian = words{
	Title: "Инспектор", Lead: "Адреса, которые сохраняют всё, что на них пришло, проверяют подпись и отвечают так, как вы скажете. Укажите такой адрес как адрес доставки или пришлите сюда копию доставки.",
	NoBins: "Приёмников пока нет. Первая копия доставки создаст один.", Name: "Название", NameHint: "Что вы с ним проверяете", URL: "Адрес", Last: "Последний запрос", Expires: "Действует до",
	New: "Новый приёмник", Wrong: "Приёмник не создан", TooMany: "Приёмников уже столько, сколько можно. Они заканчиваются сами.", Default: "Копии доставок",
	Answers: "Отвечает", SetScript: "Применить", ScriptSet: "Ответы заданы, начиная с первого.", Clear: "Очистить", Cleared: "Список очищен.", NoURL: "У этого сервера нет адреса для приёмников; копии доставок сюда всё же попадают.",
	Requests: "Сохранённые запросы", NoRequests: "Пока ничего не пришло.", Request: "Запрос", Path: "Путь", Source: "Откуда", Body: "Тело", Answer: "Ответ", At: "Получен", From: "Отправитель",
	External: "Извне", Copy: "Копия доставки", CopyOf: "Копия", Redirected: "Копия в инспекторе. Сама доставка и ваш адрес не затронуты.", Truncated: "Сохранено только начало.",
	Signature: "Подпись", Received: "Получено", Expected: "Ожидалось с", Headers: "Заголовки",
	OwnAnswers: "Свои ответы", AsEndpoint: "Сделать адресом доставки", Tree: "Деревом", Hex: "Побайтно", HexPartF: "Первые %s.",
	Own: ownWords{
		Times: "Сколько первых раз отвечать иначе", TimesHint: "Пусто – ни разу. Три раза со статусом 500 – так ведёт себя сервер, который трижды сломался и вернулся.",
		FirstStatus: "Статус этих первых ответов", Status: "Статус", StatusHint: "От 200 до 599.", Body: "Тело", Delay: "Ждать перед ответом, мс", DelayHint: "Не больше 45 000.",
		RetryAfter: "Retry-After, секунды", RetryHint: "Отправляется с первыми ответами, если они есть.", Drip: "Ждать перед каждым байтом тела, мс", Drop: "Обрывать соединение",
		Drops: map[models.BinDrop]string{models.DropNever: "Никогда", models.DropBefore: "До ответа", models.DropDuring: "Посреди ответа"},
	},
	KeptF: ui.Forms{One: "Последний %s запрос хранится 72 часа.", Few: "Последние %s запроса хранятся 72 часа.", Many: "Последние %s запросов хранятся 72 часа."},
	Recipes: map[string]string{
		"ok": "200 сразу", "fail_twice": "дважды 500, потом 200", "fail": "всегда 500", "rate_limited_once": "один раз 429 с Retry-After, потом 200",
		"rate_limited": "429 с Retry-After", "unavailable": "503 с Retry-After", "unauthorized": "401", "gone": "410 Gone", "redirect": "302 на другую страницу",
		"slow": "200 через 5 секунд", "time_out": "слишком поздно: через 35 секунд", "drip": "по одному байту", "drop_before": "обрыв до ответа", "drop_during": "обрыв посреди ответа",
	},
	Outcomes: map[models.AnswerOutcome]string{
		models.AnswerGiven: "Дан", models.AnswerPending: "Ещё ждёт", models.AnswerDropped: "Соединение оборвано", models.AnswerSenderLeft: "Отправитель ушёл", models.AnswerBusy: "503: слишком многие ждали",
		models.AnswerTooLarge: "413: слишком большой", models.AnswerBrokenBody: "400: тело оборвалось", models.AnswerNone: "Нет: это копия",
	},
	Verdicts: map[models.VerdictStatus]string{
		models.SignatureValid: "Верна", models.SignatureWrongSecret: "Другой секрет", models.SignatureTooOld: "Устарела", models.SignatureInFuture: "Из будущего",
		models.SignatureMissing: "Нет", models.SignatureMalformed: "Не читается", models.SignatureUnknowable: "Не узнать",
	},
	Why: map[models.VerdictStatus]string{
		models.SignatureValid: "Сделана секретом, который сюда относится, ровно по этому телу.", models.SignatureWrongSecret: "Ни один из относящихся сюда секретов не даёт её по этому телу: секрет другой, или тело изменено.",
		models.SignatureTooOld: "Секрет верный, но отметка времени больше чем на пять минут раньше получения.", models.SignatureInFuture: "Секрет верный, но отметка времени больше чем на пять минут позже получения: проверьте часы.",
		models.SignatureMissing: "В запросе нет такого заголовка.", models.SignatureMalformed: "Заголовок есть, но ни одна библиотека его не прочтёт.", models.SignatureUnknowable: "Тело слишком велико, целиком оно не сохранено.",
	},
}
