package scenarios

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/botix-pro/platform/app/models"
)

// Bounds of a definition, as api/openapi.yaml has them.
const (
	MaxSteps = 100
	// MaxStepBytes and MaxBytes are the sizes of one step and of all of them, as
	// they are written.
	MaxStepBytes = 16 << 10
	MaxBytes     = 64 << 10
	// MaxWait is how long a wait may last: longer ones are taken for a mistake.
	MaxWait = 366 * 24 * time.Hour
)

// End is where a jump leads that ends the run. No step can have this id.
const End = "end"

// The step types, contract §6.
const (
	TypeSendMessage   = "send_message"
	TypeWait          = "wait"
	TypeUpdateContact = "update_contact"
	TypeCondition     = "condition"
	TypeEmitEvent     = "emit_event"
	TypeHTTPRequest   = "http_request"
)

// Definition is what a scenario does, checked.
type Definition struct{ Steps []Step }

// Step is one step. Exactly one of the fields for the types is set.
type Step struct {
	models.StepName

	// Next is the index of the step that follows; the number of steps is the end.
	Next int

	Message   *SendMessage
	Wait      *Wait
	Contact   *UpdateContact
	Condition *Condition
	Emit      *EmitEvent
	Request   *HTTPRequest
}

// head is what every step may have, whatever its type.
type head struct {
	models.StepName

	Next *string `json:"next"`
}

var stepID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// parser collects a definition and what is wrong with it.
type parser struct {
	found models.Faults
	steps []Step
	jumps []jump
	index map[string]int // of the step's id
}

// jump is a place where a step names another one.
type jump struct {
	from    int
	pointer string
	to      string
	set     func(index int)
}

// Parse reads the steps of a scenario. Faults point into the JSON below pointer,
// as in /steps/3/if/op; with any, the definition must not be used. What depends
// on the time is checked by [Definition.CheckTimes].
func Parse(pointer string, steps jsontext.Value) (*Definition, models.Faults) {
	p := &parser{index: map[string]int{}}
	var list []jsontext.Value
	if err := json.Unmarshal(steps, &list); err != nil || steps.Kind() != '[' {
		p.found.Add(pointer, models.FieldType, "The steps are a JSON array.")
		return nil, p.found
	}
	switch {
	case len(list) == 0:
		p.found.Add(pointer, models.FieldTooShort, "A scenario has at least one step.")
	case len(list) > MaxSteps:
		p.found.Add(pointer, models.FieldTooMany, "At most %d steps are allowed; there are %d.", MaxSteps, len(list))
	case len(steps) > MaxBytes:
		p.found.Add(pointer, models.FieldTooLong, "The steps may have %d bytes together; they have %d.", MaxBytes, len(steps))
	}
	if len(p.found) > 0 {
		return nil, p.found
	}
	p.steps = make([]Step, len(list))
	for i, raw := range list {
		p.step(i, pointer+"/"+strconv.Itoa(i), raw)
	}
	p.resolve()
	return &Definition{Steps: p.steps}, p.found
}

// step reads one step into its place.
func (p *parser) step(i int, at string, raw jsontext.Value) {
	step := &p.steps[i]
	step.Next = i + 1
	if raw.Kind() != '{' {
		p.found.Add(at, models.FieldType, "A step is a JSON object.")
		return
	}
	if len(raw) > MaxStepBytes {
		p.found.Add(at, models.FieldTooLong, "A step may have %d bytes; this one has %d.", MaxStepBytes, len(raw))
		return
	}
	var common head
	if err := json.Unmarshal(raw, &common); err != nil {
		p.fault(at, err)
		return
	}
	step.StepName = common.StepName
	p.identify(i, at)
	if common.Next != nil {
		p.jump(i, at+"/next", *common.Next, func(to int) { step.Next = to })
	}
	p.body(i, at, raw)
}

func (p *parser) identify(i int, at string) {
	id := p.steps[i].ID
	switch first, taken := p.index[id]; {
	case !stepID.MatchString(id):
		p.found.Add(at+"/id", models.FieldFormat, "A step's id is 1 to 64 letters, digits, hyphens and underscores.")
	case id == End:
		p.found.Add(at+"/id", models.FieldReserved, "%q is where a scenario ends; no step can be called that.", End)
	case taken:
		p.found.Add(at+"/id", models.FieldDuplicate, "Step %d has this id already.", first)
	default:
		p.index[id] = i
	}
}

// body reads what belongs to the step's type.
func (p *parser) body(i int, at string, raw jsontext.Value) {
	step := &p.steps[i]
	switch step.Type {
	case TypeSendMessage:
		step.Message = parseBody(p, at, raw, p.sendMessage)
	case TypeWait:
		step.Wait = parseBody(p, at, raw, p.wait)
	case TypeUpdateContact:
		step.Contact = parseBody(p, at, raw, p.updateContact)
	case TypeCondition:
		step.Condition = parseBody(p, at, raw, func(at string, c *Condition) { p.condition(i, at, c) })
	case TypeEmitEvent:
		step.Emit = parseBody(p, at, raw, p.emitEvent)
	case TypeHTTPRequest:
		step.Request = parseBody(p, at, raw, p.httpRequest)
	case "":
		p.found.Add(at+"/type", models.FieldMissing, "A step needs a type.")
	default:
		p.found.Add(at+"/type", models.FieldFormat,
			"A step's type is send_message, wait, update_contact, condition, emit_event or http_request.")
	}
}

// parseBody reads a step's own fields strictly and has them checked.
func parseBody[T any](p *parser, at string, raw jsontext.Value, check func(at string, body *T)) *T {
	body := new(T)
	if err := json.Unmarshal(raw, body, json.RejectUnknownMembers(true)); err != nil {
		p.fault(at, err)
		return body
	}
	check(at, body)
	return body
}

// fault translates what the decoder says.
func (p *parser) fault(at string, err error) {
	var semantic *json.SemanticError
	switch {
	case !errors.As(err, &semantic):
		p.found.Add(at, models.FieldSyntax, "This is not valid JSON.")
	case errors.Is(err, json.ErrUnknownName):
		p.found.Add(at+string(semantic.JSONPointer), models.FieldUnknown, "A step of this type has no such field.")
	default:
		p.found.Add(at+string(semantic.JSONPointer), models.FieldType, "The value has the wrong type.")
	}
}

func (p *parser) jump(from int, pointer, to string, set func(int)) {
	p.jumps = append(p.jumps, jump{from: from, pointer: pointer, to: to, set: set})
}

// resolve turns ids into indices, once all ids are known. Jumps lead forward
// only, so no run goes in a circle.
func (p *parser) resolve() {
	for _, j := range p.jumps {
		to, known := p.index[j.to]
		switch {
		case j.to == End:
			j.set(len(p.steps))
		case !known:
			p.found.Add(j.pointer, models.FieldNotFound, "There is no step with the id %q.", shorten(j.to))
		case to <= j.from:
			p.found.Add(j.pointer, models.FieldRange, "Step %q does not come later: a scenario that goes back could go in a circle.", j.to)
		default:
			j.set(to)
		}
	}
}

// shorten keeps what a caller sent short in an answer.
func shorten(text string) string {
	const shown = 64
	if runes := []rune(text); len(runes) > shown {
		return string(runes[:shown]) + "…"
	}
	return text
}

// CheckTimes returns what is wrong with the definition's waits when it is saved
// at the given time: an end that is past, or too far away.
func (d *Definition) CheckTimes(pointer string, now time.Time) (found models.Faults) {
	for i, step := range d.Steps {
		if step.Wait == nil || step.Wait.Until == nil {
			continue
		}
		at := pointer + "/" + strconv.Itoa(i) + "/until"
		switch {
		case !step.Wait.End.After(now):
			found.Add(at, models.FieldRange, "This time is past.")
		case step.Wait.End.After(now.Add(MaxWait)):
			found.Add(at, models.FieldRange, "A wait ends within 366 days.")
		}
	}
	return found
}

// Names lists the steps as a run shows them.
func (d *Definition) Names() []models.StepName {
	names := make([]models.StepName, len(d.Steps))
	for i, step := range d.Steps {
		names[i] = step.StepName
	}
	return names
}
