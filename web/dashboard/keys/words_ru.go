package keys

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

//nolint:gochecknoglobals,gosec // a constant table; the words are no credentials
var russian = words{
	Title: "Ключи API", LeadF: "В проекте не больше %d действующих ключей. Дайте каждой программе свой: тогда его можно отозвать отдельно.",
	EmptyTitle: "Ключей API пока нет", EmptyText: "С каждым запросом к API передаётся ключ. Создайте его ниже.",
	Name: "Название", Key: "Ключ", Scopes: "Права", State: "Состояние", Created: "Создан", Used: "Использован", Expires: "Истекает", Never: "Никогда",
	NotUsed: "Ни разу", Change: "Изменить",
	Active: "Действует", Unused: "Не использовался", Expired: "Истёк", Revoked: "Отозван",
	Revoke: "Отозвать", RevokeF: "Отозвать %s", RevokedNotice: "Ключ отозван. Все серверы откажут ему не позднее чем через 5 секунд.",
	RevokeQuestion:    "Программы с этим ключом получат отказ 401 не позднее чем через 5 секунд. Отменить это нельзя.",
	NeverUsedQuestion: "Этим ключом ни разу не пользовались. Отменить отзыв нельзя.",
	New:               "Создать ключ", NewLead: "Ключ будет показан один раз, на следующей странице.", NameHint: "Где он используется: «биллинг, боевой»",
	Lifetime: "Истекает через", Create: "Создать ключ",
	BadNameF: "Название – от 1 до %d знаков.", NoScope: "Выберите, что можно делать с ключом.",
	TooManyF: "Действующих ключей уже %d. Отзовите тот, который никому не нужен.",
	Repeated: "Форма отправлена дважды. Ключ создан в первый раз; если вы не видели его секрета, отзовите ключ и создайте другой.",
	MadeF:    "Ключ «%s» создан", MadeLead: "Скопируйте его сейчас: больше мы его не покажем, и узнать его потом нельзя.",
	Secret: "новый ключ", Try: "Попробуйте",
	OwnersTitle: "Это могут только владельцы", OwnersText: "Попросите владельца проекта. Кто это, видно на странице участников.",
	AskOwner:   "Создавать и отзывать ключи API могут только владельцы.",
	DaysF:      ui.Forms{One: "%s день", Few: "%s дня", Many: "%s дней"},
	ScopesMean: map[models.Scope]string{models.ScopeRead: "read: запросы GET", models.ScopeWrite: "write: всё, что что-то меняет"},
}
