package inspector

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/web/dashboard/parts"
	"github.com/botix-pro/platform/web/ui"
)

// recipeOf is the recipe that a script is, empty where it is none.
func recipeOf(script models.BinScript) string {
	for _, recipe := range models.BinRecipes() {
		if reflect.DeepEqual(recipe.Script, script) {
			return recipe.Key
		}
	}
	return ""
}

// recipeForm sets one of the ready-made scripts.
func recipeForm(v *ui.Visit, bin *models.Bin) ui.FormView {
	texts := wordsIn(v.Locale.Language)
	current := recipeOf(bin.Script)
	field := ui.Field{Name: "recipe", Label: texts.Answers, Kind: ui.FieldSelect}
	if current == "" {
		field.Options = []ui.Option{{Name: texts.OwnAnswers, Chosen: true}}
	}
	for _, recipe := range models.BinRecipes() {
		field.Options = append(field.Options, ui.Option{Value: recipe.Key, Name: ui.Word(texts.Recipes, recipe.Key), Chosen: recipe.Key == current})
	}
	return ui.FormView{Action: Path + "/bins/" + bin.ID + "/script", Submit: texts.SetScript, Fields: []ui.Field{field}}
}

// setScript sets what the bin answers, by a recipe, from its first answer on.
func (s *Section) setScript(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	for _, recipe := range models.BinRecipes() {
		if recipe.Key == form.Get("recipe") {
			return s.script(v, recipe.Key, recipe.Script)
		}
	}
	return ui.Reply{}, ui.ErrForm
}

func (s *Section) script(v *ui.Visit, detail string, script models.BinScript) (ui.Reply, error) {
	return s.do(v, parts.Deed{Action: "inspector_bin.scripted", Detail: detail}, wordsIn(v.Locale.Language).ScriptSet,
		func(ctx context.Context, tx *store.Tx, id string) error { return tx.SetBinScript(ctx, id, script) })
}

// The fields of an answer of the reader's own. The first few may get another
// status; everything else is alike for both.
const (
	fieldTimes       = "times"
	fieldFirstStatus = "first_status"
	fieldStatus      = "status"
	fieldBody        = "body"
	fieldDelay       = "delay_ms"
	fieldRetryAfter  = "retry_after"
	fieldDrip        = "drip_ms"
	fieldDrop        = "drop"
)

// answerForm sets a script of the reader's own.
func answerForm(v *ui.Visit, bin *models.Bin) ui.FormView {
	texts := wordsIn(v.Locale.Language)
	return ui.FormView{Action: Path + "/bins/" + bin.ID + "/answers", Submit: texts.SetScript, Fields: answerFields(texts, valuesOf(bin.Script))}
}

func valuesOf(script models.BinScript) url.Values {
	values := url.Values{fieldStatus: {strconv.Itoa(script.Then.Status)}, fieldBody: {script.Then.Body}, fieldDrop: {string(script.Then.Drop)}}
	first := script.First
	if first == nil {
		first = &models.BinAnswer{}
	}
	for name, value := range map[string]int{
		fieldTimes: script.Times, fieldFirstStatus: first.Status, fieldDelay: script.Then.DelayMs,
		fieldRetryAfter: max(script.Then.RetryAfter, first.RetryAfter), fieldDrip: script.Then.DripMs,
	} {
		if value != 0 {
			values.Set(name, strconv.Itoa(value))
		}
	}
	return values
}

func answerFields(texts *words, values url.Values) []ui.Field {
	number := func(name, label, hint string) ui.Field {
		return ui.Field{Name: name, Label: label, Kind: "number", Value: values.Get(name), Hint: hint}
	}
	drop := ui.Field{Name: fieldDrop, Label: texts.Own.Drop, Kind: ui.FieldSelect}
	for _, place := range []models.BinDrop{models.DropNever, models.DropBefore, models.DropDuring} {
		drop.Options = append(drop.Options, ui.Option{Value: string(place), Name: ui.Word(texts.Own.Drops, place), Chosen: values.Get(fieldDrop) == string(place)})
	}
	return []ui.Field{
		number(fieldTimes, texts.Own.Times, texts.Own.TimesHint), number(fieldFirstStatus, texts.Own.FirstStatus, ""),
		number(fieldStatus, texts.Own.Status, texts.Own.StatusHint),
		{Name: fieldBody, Label: texts.Own.Body, Kind: ui.FieldCode, Rows: 3, Value: values.Get(fieldBody)},
		number(fieldDelay, texts.Own.Delay, texts.Own.DelayHint), number(fieldRetryAfter, texts.Own.RetryAfter, texts.Own.RetryHint),
		number(fieldDrip, texts.Own.Drip, ""), drop,
	}
}

// setAnswers sets a script of the reader's own.
func (s *Section) setAnswers(v *ui.Visit) (ui.Reply, error) {
	form, err := v.Form()
	if err != nil {
		return ui.Reply{}, err
	}
	script, found := readAnswers(form)
	if err = found.Err(); err == nil {
		err = script.Validate()
	}
	if faults, ok := parts.Faults(err); ok {
		return s.binPage(v, form, fieldsOf(faults))
	}
	return s.script(v, strconv.Itoa(script.Then.Status), script)
}

// readAnswers reads what was typed; found is about what is no number.
func readAnswers(form url.Values) (script models.BinScript, found models.Faults) {
	number := func(name string) int {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			return 0
		}
		value, err := strconv.Atoi(text)
		if err != nil {
			found.Add("/"+name, models.FieldType, "This is no whole number.")
		}
		return value
	}
	script.Then = models.BinAnswer{
		Status: number(fieldStatus), Body: strings.ReplaceAll(form.Get(fieldBody), "\r\n", "\n"), DelayMs: number(fieldDelay),
		RetryAfter: number(fieldRetryAfter), DripMs: number(fieldDrip), Drop: models.BinDrop(form.Get(fieldDrop)),
	}
	if script.Times = number(fieldTimes); script.Times != 0 {
		first := script.Then
		first.Status = number(fieldFirstStatus)
		script.First, script.Then.RetryAfter = &first, 0
	}
	return script, found
}

// fieldsOf leads what is wrong with a script to the fields that say it. What both
// answers have in common is said once.
func fieldsOf(faults []models.FieldError) []models.FieldError {
	for i := range faults {
		pointer, first := strings.CutPrefix(faults[i].Pointer, "/first")
		switch pointer = strings.TrimPrefix(pointer, "/then"); {
		case first && pointer == "":
			pointer = "/" + fieldTimes
		case first && pointer == "/"+fieldStatus:
			pointer = "/" + fieldFirstStatus
		}
		faults[i].Pointer = pointer
	}
	return slices.CompactFunc(slices.SortedStableFunc(slices.Values(faults), byPointer), func(a, b models.FieldError) bool { return a == b })
}

func byPointer(a, b models.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) }
