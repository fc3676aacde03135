package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// expected says in words what a variable of a type may hold.
var expected = map[reflect.Type]string{
	reflect.TypeFor[int]():             "a whole number",
	reflect.TypeFor[time.Duration]():   "a duration like 50s",
	reflect.TypeFor[[]time.Duration](): "durations like 1m,15m,1h,24h",
	reflect.TypeFor[[]netip.Prefix]():  "networks like 10.0.0.0/8,fd00::/8",
	reflect.TypeFor[slog.Level]():      "debug, info, warn or error",
}

// tidy takes the blanks away that people leave around values and the elements
// of lists.
func tidy(variables map[string]string) map[string]string {
	for name, value := range variables {
		elements := strings.Split(value, ",")
		for i, element := range elements {
			elements[i] = strings.TrimSpace(element)
		}
		variables[name] = strings.Join(elements, ",")
	}
	return variables
}

// unreadable translates what the parser says about Go fields into what the
// operator knows: variables. A value is repeated only if its type cannot hold a
// secret; those that can are texts, which are always readable.
func unreadable(err error, variables map[string]string) *problems {
	found := &problems{}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return found
	}
	for _, one := range all.Errors {
		var parse env.ParseError
		if !errors.As(one, &parse) {
			found.add(problem{text: one.Error()})
			continue
		}
		name := variableOf(parse.Name)
		found.add(problem{name, fmt.Sprintf("is %q, must be %s", variables[name], expected[parse.Type])})
	}
	return found
}

// variableOf returns the variable that fills a field of [Config].
func variableOf(field string) string {
	if f, ok := reflect.TypeFor[Config]().FieldByName(field); ok {
		return f.Tag.Get("env")
	}
	return field
}
