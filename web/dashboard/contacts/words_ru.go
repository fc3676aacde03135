package contacts

//nolint:gochecknoglobals // a constant table
var russian = words{
	Title: "Контакты", Lead: "Люди и компании, с которыми общается проект, сначала новые.", One: "Контакт",
	Name: "Имя", Email: "Эл. почта", Phone: "Телефон", ExternalID: "Внешний id", Tag: "Метка", Tags: "Метки", UpdatedSince: "Изменены с",
	Identities: "Адреса в каналах", Attributes: "Атрибуты", NoTags: "Меток нет.", NoIdentities: "Адресов в других каналах нет.",
	EmptyTitle: "Контактов пока нет", EmptyText: "Создайте контакт здесь, запросом POST /contacts или сразу много запросом POST /contacts/bulk.",
	New: "Новый контакт", NewLead: "Любое поле можно оставить пустым. Ваши адреса доставки узнают о нём из contact.created.", Create: "Создать", Created: "Контакт создан; contact.created отправляется.",
	Edit: "Изменить", EditTitle: "Изменить контакт", EditLead: "Пустое поле будет очищено. Об изменённых полях ваши адреса доставки узнают из contact.updated.",
	Save: "Сохранить", Saved: "Сохранено.",
	Conflict: "Контакт изменили после того, как вы открыли форму. Введённое сохранено ниже, рядом — нынешние значения. Сохраните ещё раз, чтобы записать своё.",
	NowF:     "Сейчас: %s",
	Delete:   "Удалить", DeleteTitleF: "Удалить %s?",
	DeleteText: "Контакт исчезнет навсегда, а запуски, которые ждут его, закончатся. Сообщения и события останутся. Ваши адреса доставки узнают об этом из contact.deleted.",
	Deleted:    "Контакт удалён; contact.deleted отправляется.",
	Send:       "Отправить сообщение", AllMessages: "Все сообщения", AllRuns: "Все запуски",
	EventsLead: "О создании и о последнем изменении.",
	PhoneHint:  "В формате E.164: +, код страны, номер.", ExternalIDHint: "Ваш собственный идентификатор, единственный в проекте.",
	TagsHint: "По одной в строке, не больше 50.", IdentitiesHint: "По одному в строке: telegram = 123456789",
	AttributesHint: "Объект JSON. null убирает имя.",
}
