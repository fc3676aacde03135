package dashboard

import "github.com/botix-pro/platform/app/models"

//nolint:gochecknoglobals,gosec // a constant table; the word is not a password
var russian = words{
	SignIn: signInWords{
		Title: "Вход", Email: "Эл. почта", Password: "Пароль", Show: "Показать пароль", Hide: "Скрыть пароль", Submit: "Войти",
		Wrong:     "Адрес почты или пароль неверны.",
		Throttled: "Слишком много попыток входа. Повторите после %s.",
	},
	Account: accountWords{
		Title: "Ваша учётная запись", Lead: "То, что относится к вам, а не к проекту.", Who: "Вы",
		Password: "Сменить пароль", PasswordLead: "Все остальные ваши сеансы при этом закончатся.",
		Current: "Нынешний пароль", New: "Новый пароль (не короче 12 знаков)", Change: "Сменить пароль",
		Changed: "Пароль изменён. Остальные ваши сеансы закончены.",
		Wrong:   "Нынешний пароль указан неверно.", TooShortF: "В пароле должно быть не меньше %d знаков.",
	},
	Members: membersWords{
		Title: "Участники", Lead: "Кто видит этот проект в кабинете и что здесь сделал.",
		Role: "Роль", Since: "Участвует с", Change: "Изменить", You: "вы", Until: "Можно принять до",
		Remove: "Исключить", RemoveF: "Исключить %s", RemoveQuestionF: "Исключить %s из проекта?",
		Removed: "Участник исключён.", LastOwner: "Это единственный владелец. Сначала сделайте владельцем кого-то ещё.",
		Invited: "Приглашены", Withdraw: "Отозвать", WithdrawF: "Отозвать приглашение для %s", Withdrawn: "Приглашение отозвано.",
		Add: "Добавить участника", AddLead: "Тот, у кого есть учётная запись, добавляется сразу; участник получает выбранную здесь роль. Для остальных вы получите ссылку, которую надо передать.",
		AddedF: "%s теперь участвует в проекте.", BadEmail: "Это не адрес электронной почты.",
		RolesMean: "Участники видят всё и чинят доставки. Владельцы ещё управляют ключами API и участниками.",
		AskOwner:  "Добавлять и исключать участников могут только владельцы.",
		Link:      "ссылка-приглашение", LinkForF: "Приглашение для %s",
		LinkLead: "Передайте эту ссылку. Она сработает один раз в течение трёх дней, больше мы её не покажем.",
		Did:      "Что сделано в кабинете", When: "Когда", Who: "Кто", What: "Что", To: "С чем", NothingDone: "Пока ничего.",
		Roles: map[models.Role]string{models.RoleOwner: "Владелец", models.RoleMember: "Участник"},
		Actions: map[string]string{
			"contact.created": "Создан контакт", "contact.updated": "Изменён контакт", "contact.deleted": "Удалён контакт",
			"job.cancelled": "Остановлено задание", "message.created": "Отправлено сообщение", "message.cancelled": "Отменено сообщение", "message.settled": "Решено о сообщении",
			"run.cancelled": "Отменён запуск", "sandbox.set": "Настроена песочница", "scenario.created": "Создан сценарий", "scenario.updated": "Изменён сценарий",
			"scenario.activated": "Включён сценарий", "scenario.archived": "Убран в архив сценарий", "scenario.run": "Запущен сценарий",
			"member.added": "Добавлен участник", "member.removed": "Исключён участник", "member.invited": "Отправлено приглашение",
			"member.joined": "Принято приглашение", "webhook_endpoint.created": "Создан адрес", "webhook_endpoint.updated": "Изменён адрес", "webhook_endpoint.paused": "Приостановлен адрес",
			"webhook_endpoint.resumed":        "Включён адрес",
			"webhook_endpoint.tested":         "Отправлено пробное событие",
			"webhook_delivery.redirected":     "Отправлена копия в инспектор",
			"inspector_bin.created":           "Создан приёмник",
			"inspector_bin.scripted":          "Заданы ответы приёмника",
			"inspector_bin.cleared":           "Очищен приёмник",
			"webhook_endpoint.secret_rotated": "Сменён секрет",
			"webhook_endpoint.deleted":        "Удалён адрес",
			"webhook_delivery.retried":        "Повторена доставка", "recovery.started": "Повторено недоставленное",
			"operation.noted": "Рассмотрена операция", "operation.webhooks_retried": "Повторены вебхуки операции",
			"api_key.created": "Создан ключ API", "api_key.revoked": "Отозван ключ API",
		},
	},
	Invitation: invitationWords{
		Title: "Вас пригласили", LeadF: "Придумайте пароль, чтобы войти в проект %s.", Accept: "Войти в проект",
		ExistingF: "Введите свой пароль, чтобы войти в проект %s.",
		GoneTitle: "Приглашение не действует", Gone: "Его уже приняли, отозвали, или прошло больше трёх дней. Попросите новое.",
		Throttled: "Слишком много попыток с вашего адреса. Повторите через несколько минут.",
	},
	Errors: errorWords{
		NotFound:    errorText{"Страница не найдена", "Такой страницы нет, или она относится к другому проекту. Попытки доставки хранятся 14 дней."},
		Internal:    errorText{"Что-то пошло не так", "Страницу не удалось построить. Остальные разделы могут работать; повторите через минуту."},
		OtherOrigin: errorText{"Запрос отклонён", "Запрос пришёл с другого сайта, поэтому ничего не сделано. Откройте кабинет и повторите."},
		BadForm:     errorText{"Запрос отклонён", "Форму не удалось прочитать. Вернитесь назад и повторите."},
		NoProject:   errorText{"Нет проекта", "Вы не участвуете ни в одном проекте. Попросите владельца проекта добавить вас или войдите под другим именем."},
		NotOwner:    errorText{"Это могут только владельцы", "Попросите владельца проекта. Кто это, видно на странице участников."},
		RequestID:   "Если это повторится, сообщите номер запроса:", Back: "В кабинет",
	},
}
