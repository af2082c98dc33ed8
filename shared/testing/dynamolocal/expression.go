package dynamolocal

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/interpreter/language"
)

var placeholder = regexp.MustCompile(`[#:]\w+`)

// expressions refuses what DynamoDB refuses before it reads an item: expressions that do not
// parse, undefined placeholders, and unused definitions.
func (w write) expressions() error {
	used := map[string]bool{}
	for _, e := range []struct {
		name, text string
		parse      func(*language.Parser)
		parser     func(*language.Lexer) *language.Parser
	}{
		{"UpdateExpression", aws.ToString(w.UpdateExpression), func(p *language.Parser) { p.ParseUpdateExpression() }, language.NewUpdateParser},
		{"ConditionExpression", aws.ToString(w.ConditionExpression), func(p *language.Parser) { p.ParseConditionalExpression() }, language.NewParser},
	} {
		if e.text == "" {
			continue
		}
		p := e.parser(language.NewLexer(e.text))
		if e.parse(p); len(p.Errors()) > 0 {
			return invalid("Invalid %s: Syntax error; %s", e.name, strings.Join(p.Errors(), "; "))
		}
		for _, name := range placeholder.FindAllString(e.text, -1) {
			used[name] = true
			if _, ok := w.ExpressionAttributeNames[name]; !ok && name[0] == '#' {
				return invalid("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s", e.name, name)
			}
			if _, ok := w.ExpressionAttributeValues[name]; !ok && name[0] == ':' {
				return invalid("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s", e.name, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.ExpressionAttributeNames)) {
		if !used[name] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.ExpressionAttributeValues)) {
		if !used[name] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

// correct fixes three mistakes of minidyn in an update. minidyn keeps the attributes that REMOVE
// names. It also rewrites attributes that the expression does not name, and turns numbers into
// floating-point ones, even in a value that is only assigned.
func (w write) correct(c *change) {
	named := map[string]bool{}
	for _, a := range w.actions() {
		root := a.Left
		for {
			x, ok := root.(*language.IndexExpression)
			if !ok {
				break
			}
			root = x.Left
		}
		id, ok := root.(*language.Identifier)
		if !ok {
			continue
		}
		name := id.Value
		if full, ok := w.ExpressionAttributeNames[name]; ok {
			name = full
		}
		named[name] = true
		if root != a.Left {
			continue
		}
		if a.Token.Type == language.REMOVE {
			delete(c.is, name)
		}
		if v, ok := a.Right.(*language.Identifier); ok && w.ExpressionAttributeValues[v.Value] != nil && a.Token.Type == language.SET {
			c.is[name] = w.ExpressionAttributeValues[v.Value]
		}
	}
	for name, v := range c.was {
		if !named[name] {
			c.is[name] = v
		}
	}
}

// actions are the parts of a well-formed update expression.
func (w write) actions() []*language.ActionExpression {
	parsed, ok := language.NewUpdateParser(language.NewLexer(aws.ToString(w.UpdateExpression))).ParseUpdateExpression().Expression.(*language.UpdateExpression)
	if !ok {
		return nil
	}
	var list []*language.ActionExpression
	for _, e := range parsed.Expressions {
		if a, ok := e.(*language.ActionExpression); ok {
			list = append(list, a)
		}
	}
	return list
}
