// Package uitest holds the texts of pages against what is promised of all texts.
package uitest

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botix-pro/platform/web/ui"
)

// RequireTexts fails at each text that is missing in a language, and at each
// whose places (%s, %d) differ from the other language's. Forms need few in
// Russian only.
func RequireTexts[T any](t testing.TB, english, russian *T) {
	t.Helper()
	requireSame(t, reflect.ValueOf(*english), reflect.ValueOf(*russian), "texts")
}

var verb = regexp.MustCompile(`%(?:%|\[\d\])?[+\-#0-9.]*[a-z]`)

func requireSame(t testing.TB, english, russian reflect.Value, path string) {
	t.Helper()
	if forms, ok := english.Interface().(ui.Forms); ok {
		requireForms(t, forms, russian.Interface().(ui.Forms), path) //nolint:forcetypeassert // both are of one type
		return
	}
	switch english.Kind() {
	case reflect.String:
		require.NotEmpty(t, english.String(), "%s in English", path)
		require.NotEmpty(t, russian.String(), "%s in Russian", path)
		require.Equal(t, places(english.String()), places(russian.String()), path)
	case reflect.Struct:
		for i := range english.NumField() {
			requireSame(t, english.Field(i), russian.Field(i), path+"."+english.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Array:
		require.Equal(t, english.Len(), russian.Len(), path)
		for i := range english.Len() {
			requireSame(t, english.Index(i), russian.Index(i), path)
		}
	case reflect.Map:
		require.NotZero(t, english.Len(), path)
		require.Equal(t, english.Len(), russian.Len(), path)
		for _, key := range english.MapKeys() {
			require.True(t, russian.MapIndex(key).IsValid(), "%s[%v] in Russian", path, key)
			requireSame(t, english.MapIndex(key), russian.MapIndex(key), path+"["+key.String()+"]")
		}
	default:
		t.Fatalf("%s is a %s", path, english.Kind())
	}
}

func requireForms(t testing.TB, english, russian ui.Forms, path string) {
	t.Helper()
	for _, form := range []string{english.One, english.Many, russian.One, russian.Few, russian.Many} {
		require.NotEmpty(t, form, path)
		require.Equal(t, places(english.Many), places(form), "%s: %q", path, form)
	}
}

// places are a text's formats, in any order: languages differ in it only where
// the formats are numbered.
func places(text string) []string {
	found := verb.FindAllString(text, -1)
	slices.Sort(found)
	return found
}
