package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wavegate/shared/platform/setting"
)

// A reader reads typed values from the CDK context. A value from the command line is a string, one from cdk.json has its
// JSON type; the reader accepts both.
type reader struct {
	stage   string
	context map[string]any // by key
	file    map[string]any // cdk.json's stages.<stage>
	asked   []string
	faults  []string
}

const (
	keyStage  = "stage"
	keyStages = "stages"
	keyKeep   = "keep"
)

// stageName has no hyphen, so that no deployment's stack has the name of another deployment's second one.
var stageName = regexp.MustCompile(`^[a-z][a-z0-9]{0,19}$`)

func newReader(context map[string]any) *reader {
	r := &reader{context: context, asked: []string{keyStage, keyStages}}
	r.stage = string(Dev)
	if v, ok := context[keyStage]; ok {
		r.stage = fmt.Sprint(v)
	}
	if !stageName.MatchString(r.stage) {
		r.fault("stage: %q is not a valid name: use at most 20 lower-case letters and digits, a letter first", r.stage)
	}
	stages, _ := context[keyStages].(map[string]any)
	for _, name := range keysOf(stages) {
		if !stageName.MatchString(name) {
			r.fault("stages: %q is not a valid name", name)
		}
	}
	r.file, _ = stages[r.stage].(map[string]any)
	return r
}

func (r *reader) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// value returns the setting; the command line wins over the file.
func (r *reader) value(key string) (any, bool) {
	r.asked = append(r.asked, key)
	if v, ok := r.context[key]; ok {
		return v, true
	}
	v, ok := r.file[key]
	return v, ok
}

func (r *reader) text(key, fallback string) string {
	v, ok := r.value(key)
	if !ok {
		return fallback
	}
	s, ok := v.(string)
	if !ok {
		r.fault("%s: %v is not a string", key, v)
	}
	return s
}

func (r *reader) oneOf(key, fallback string, allowed ...string) string {
	s := r.text(key, fallback)
	if !slices.Contains(allowed, s) {
		r.fault("%s: %q must be one of %s", key, s, strings.Join(allowed, ", "))
	}
	return s
}

// ranged reads a number that a function reads, with the function's range and default.
func (r *reader) ranged(key string, name setting.Name) int {
	n := setting.Ranges[name]
	return r.number(key, n.Default, n.Least, n.Most)
}

func (r *reader) number(key string, fallback, low, high int) int {
	v, ok := r.value(key)
	if !ok {
		return fallback
	}
	if f, ok := v.(float64); ok { // from cdk.json; fmt would write a million as 1e+06
		v = strconv.FormatFloat(f, 'f', -1, 64)
	}
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil || n < low || n > high {
		r.fault("%s: %v must be a whole number from %d to %d", key, v, low, high)
		return fallback
	}
	return n
}

func (r *reader) flag(key string, fallback bool) bool {
	v, ok := r.value(key)
	if !ok {
		return fallback
	}
	b, err := strconv.ParseBool(fmt.Sprint(v))
	if err != nil {
		r.fault("%s: %v must be true or false", key, v)
	}
	return b
}

// keep reports whether the deployment keeps its data. Every deployment except dev and prod must set it: otherwise a
// misspelt name would make one that loses its data.
func (r *reader) keep() bool {
	_, said := r.value(keyKeep)
	keep := r.flag(keyKeep, false)
	switch stage := Stage(r.stage); {
	case stage == Prod && said && !keep:
		r.fault("keep: prod always keeps its data")
	case stage == Prod:
		return true
	case stage != Dev && !said:
		r.fault("keep: the deployment %s must set keep to true or false", r.stage)
	}
	return keep
}

// texts takes a JSON object whose values are texts.
func (r *reader) texts(key string) map[string]string {
	var all map[string]string
	r.structured(key, &all)
	return all
}

// list takes a list of texts, or one text with commas.
func (r *reader) list(key string) []string {
	v, ok := r.value(key)
	if !ok {
		return nil
	}
	if s, ok := v.(string); ok {
		return strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' })
	}
	values, ok := v.([]any)
	if !ok {
		r.fault("%s: %v is not a list", key, v)
	}
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// structured reads a JSON value, or a text with one, strictly into target.
func (r *reader) structured(key string, target any) {
	v, ok := r.value(key)
	if !ok {
		return
	}
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			r.fault("%s: %v", key, err)
			return
		}
		text = string(b)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		r.fault("%s: %v", key, err)
	}
}

// plain is the form of a setting's key; the CDK's own keys contain a colon, a slash or a dash.
var plain = regexp.MustCompile(`^[a-z][A-Za-z]*$`)

// unknown reports keys that nothing has read, so that a misspelt setting does not silently get its default.
func (r *reader) unknown() {
	for _, key := range keysOf(r.file) {
		if !slices.Contains(r.asked, key) {
			r.fault("stages.%s: there is no setting %q", r.stage, key)
		}
	}
	for _, key := range keysOf(r.context) {
		if plain.MatchString(key) && !slices.Contains(r.asked, key) {
			r.fault("there is no setting %q", key)
		}
	}
}

// keysOf lists a map's keys in order.
func keysOf[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
