package expect

import (
	"fmt"
	"reflect"
	"time"
)

// Filled returns a value of a type in which nothing is empty: each field that is stored has a value of its own, lists and
// maps have two entries. n tells one such value from another.
func Filled[T any](n int) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(1_780_000_000_000 + int64(*n)).UTC()))
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) {
				fill(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			name, entry := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(name, n)
			fill(entry, n)
			v.SetMapIndex(name, entry)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text-", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface: // stays empty
	case reflect.Float64:
		v.SetFloat(float64(*n))
	default:
		v.SetInt(int64(*n))
	}
}
