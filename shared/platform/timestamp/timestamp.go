// Package timestamp writes times in the one form that the service stores, answers and sends: RFC 3339 in UTC with three
// digits of milliseconds. So texts sort as their times do. encoding/json omits zeros at the end, and has no option for
// that.
package timestamp

import "time"

const layout = "2006-01-02T15:04:05.000Z"

// Text is a time as text.
func Text(t time.Time) string { return t.UTC().Format(layout) }
