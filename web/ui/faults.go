package ui

import "github.com/botix-pro/platform/app/models"

// FaultText says what is wrong with a field. In English that is the detail the
// API gives; in Russian it is said by its code, where the code says enough.
func FaultText(l Locale, fault models.FieldError) string {
	if text, ok := russianFaults[fault.Code]; ok && l.Language == Russian {
		return text
	}
	return fault.Detail
}

//nolint:gochecknoglobals // a constant table
var russianFaults = map[string]string{
	models.FieldUnknown:   "Такого поля нет.",
	models.FieldMissing:   "Это поле обязательно.",
	models.FieldType:      "Значение не того типа.",
	models.FieldTooLong:   "Слишком длинно.",
	models.FieldTooShort:  "Слишком коротко или пусто.",
	models.FieldTooMany:   "Слишком много значений.",
	models.FieldDuplicate: "Это значение встречается дважды.",
	models.FieldReserved:  "Это имя зарезервировано.",
	models.FieldRange:     "Значение вне допустимых пределов.",
	models.FieldTooDeep:   "Слишком глубокая вложенность.",
	models.FieldNotFound:  "Такого объекта нет.",
	"NO_ADDRESS":          "У контакта нет адреса для этого канала.",
	"NOT_CONFIGURED":      "Этот канал ещё не настроен.",
	"UNKNOWN_CHANNEL":     "Такого канала нет.",
}
