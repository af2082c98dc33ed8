// Package main holds operations that are never built. The tests of the contract compare them with
// sample.yaml, which says the same, and then with what was changed in it.
package main

import (
	"encoding/json"
	"net/http"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/lambdahttp"
	"wavegate/shared/platform/paging"
)

type (
	box struct {
		meta
		ID     string            `json:"id"`
		Kind   kind              `json:"kind"`
		Parts  []part            `json:"parts"`
		Labels map[string]string `json:"labels"`
		Note   string            `json:"note,omitempty"`
		Up     bool              `json:"up"`
		Load   float64           `json:"load"`
		hidden int
		Secret string `json:"-"`
	}
	meta struct {
		MadeAt  time.Time  `json:"madeAt"`
		EndedAt *time.Time `json:"endedAt,omitempty"`
	}
	part struct {
		Count int    `json:"count"`
		Any   any    `json:"any,omitempty"`
		Of    []part `json:"of,omitempty"`
	}
	kind string
)

const (
	small   kind = "small"
	large   kind = "large"
	unknown kind = "(unknown)"
)

const most = 90

var (
	codeRule   = &input.Text{Pattern: `[a-z]{1,` + `8}`, Says: "1 to 8 letters"}
	choiceRule = &input.Text{Pattern: string(small) + "|" + string(large), Says: "small or large"}
	eitherRule = &input.Text{Pattern: `[a-z]+|[0-9]+`, Says: "letters or digits"}
	shortRule  = &input.Text{Min: 1, Max: 20, Says: "1 to 20 characters"}
	noteRule   = &input.Text{Min: 1, Max: 40, Trim: true, Check: input.Printable, Says: "1 to 40 characters"}
	partsRule  = &input.Integer{OneOf: parts}
	sizeRule   = &input.Integer{Least: -1, Most: most}
)

var parts = []int{1, 2, 4}

func read(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		c.Path("id", codeRule)
		return lambdahttp.OK(box{}, input.Revision(1)), c.Err()
	}
}

func poll(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		made, tag := encoded()
		return lambdahttp.OK(made, tag), c.Err()
	}
}

func encoded() (json.RawMessage, string) {
	b, err := json.Marshal(part{})
	if err != nil {
		panic(err)
	}
	return b, `"1"`
}

func list(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		place := paging.ByOffset(c.Reader)
		timeOf(c.Reader, "from")
		return paging.List(c, paging.Query{}, place, func(dynamo.Window) (dynamo.Page[part], error) {
			return dynamo.Page[part]{}, c.Err()
		})
	}
}

func timeOf(in *input.Reader, name string) {
	text, _ := in.Query(name, input.Time)
	input.ParseTime(text)
}

func series(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		cursor := paging.ByCursor(c.Reader)
		return paging.Series(c, paging.Query{}, cursor.Limit, dynamo.Page[part]{}, func(part) string { return "" }), c.Err()
	}
}

func put(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		body := c.Body()
		number := func(name string, rule *input.Integer) { body.OptionalInteger(name, rule) }
		number("parts", partsRule)
		number("size", sizeRule)
		body.Text("choice", choiceRule)
		body.Text("either", eitherRule)
		body.OptionalText("note", noteRule)
		body.OptionalText("short", shortRule)
		body.Texts("tags", 1, 5, codeRule)
		body.Object("origin", func(o *input.Object) { o.Text("place", codeRule) })
		body.Require("parts", "size")
		c.Preconditions()
		return lambdahttp.Stored(true), c.Err()
	}
}

func create(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		c.IdempotencyKey()
		return lambdahttp.Created("/"), c.Err()
	}
}

func written(lambdahttp.Env) lambdahttp.Handler {
	return func(c *lambdahttp.Call) (lambdahttp.Answer, error) {
		return lambdahttp.Answer{Status: http.StatusAccepted, Header: http.Header{"X-Note": nil}, Body: meta{}}, c.Err()
	}
}

// What cannot be read from the source:

func aNameMadeAtRunTime(c *lambdahttp.Call) { c.Query(c.RequestID, codeRule) }

func aBoundMadeAtRunTime(c *lambdahttp.Call) { c.QueryInteger("n", 1, len(parts), 1) }

func aRuleMadeAtRunTime(c *lambdahttp.Call) { c.Query("q", madeRule()) }

func madeRule() *input.Text { return &input.Text{} }

func aPatternMadeAtRunTime(c *lambdahttp.Call) { c.Query("q", &input.Text{Pattern: c.RequestID}) }

func aCheckThatIsNotKnown(c *lambdahttp.Call) {
	c.Query("q", &input.Text{Check: func(s string) bool { return s != "" }})
}

func aNumberMadeAtRunTime(c *lambdahttp.Call) {
	c.Body().OptionalInteger("n", &input.Integer{Most: int64(len(parts))})
}

func aStatusMadeAtRunTime(c *lambdahttp.Call) lambdahttp.Answer { return lambdahttp.Empty(len(parts)) }

func anAnswerThatIsChanged(c *lambdahttp.Call) lambdahttp.Answer {
	a := lambdahttp.Empty(http.StatusOK)
	a.Status = http.StatusAccepted
	return a
}

func bytesOfUnknownMaking(c *lambdahttp.Call, b json.RawMessage) lambdahttp.Answer {
	return lambdahttp.OK(b, "")
}

func itself(c *lambdahttp.Call) { itself(c) }

func main() {}
