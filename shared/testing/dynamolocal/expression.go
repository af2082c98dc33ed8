package dynamolocal

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/interpreter/language"
	"github.com/truora/minidyn/server"
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
	fresh, computed := item{}, map[string]bool{}
	for _, a := range w.actions() {
		path := w.path(a.Left)
		v, _ := a.Right.(*language.Identifier)
		assigned := a.Token.Type == language.SET && v != nil && w.ExpressionAttributeValues[v.Value] != nil
		switch root := path[0]; {
		case len(path) == 1 && assigned:
			fresh[root] = w.ExpressionAttributeValues[v.Value]
		case len(path) == 1 && a.Token.Type == language.REMOVE:
			fresh[root] = nil
		case slices.Contains(path, "") || !assigned && a.Token.Type != language.REMOVE:
			computed[root] = true
		default:
			if fresh[root] == nil {
				fresh[root] = c.was[root]
			}
			var value *server.AttributeValue
			if assigned {
				value = w.ExpressionAttributeValues[v.Value]
			}
			fresh[root] = with(fresh[root], path[1:], value)
		}
	}
	for name, v := range c.was {
		if _, named := fresh[name]; !named && !computed[name] {
			c.is[name] = v
		}
	}
	for name, v := range fresh {
		if c.is[name] = v; v == nil {
			delete(c.is, name)
		}
	}
}

// path lists the attributes of a document path, from the item's; empty for the position of an entry.
func (w write) path(of language.Expression) []string {
	switch x := of.(type) {
	case *language.IndexExpression:
		path := w.path(x.Left)
		if _, is := x.Index.(*language.Identifier); is && x.Token.Type == language.DOT {
			return append(path, w.path(x.Index)...)
		}
		return append(path, "")
	case *language.Identifier:
		if full, is := w.ExpressionAttributeNames[x.Value]; is {
			return []string{full}
		}
		return []string{x.Value}
	}
	return []string{""}
}

// with returns a copy of a map with another value at a path; nil: without it.
func with(m *server.AttributeValue, path []string, v *server.AttributeValue) *server.AttributeValue {
	if len(path) == 0 {
		return v
	}
	next := &server.AttributeValue{M: maps.Clone(m.M)}
	if next.M[path[0]] = with(m.M[path[0]], path[1:], v); next.M[path[0]] == nil {
		delete(next.M, path[0])
	}
	return next
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
