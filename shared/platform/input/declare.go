package input

import (
	"net/http"

	"wavegate/shared/platform/setting"
)

// Takes is what an operation takes. Most of it follows from the function that reads the operation's requests; see
// Declare. The contract says the same.
type Takes struct {
	Path  Fields // the parameters of the path; all are required
	Query Fields
	Body  *Shape // nil if the operation takes none
	// MaxBody bounds the body, in bytes; 0 means MaxBody.
	MaxBody int
	// Conditions is set if the operation takes If-Match and If-None-Match; see Preconditions.
	Conditions bool
	// IdempotencyKey is set if the operation takes an Idempotency-Key.
	IdempotencyKey bool
	// Hears is set if the operation takes whatever a box says; see Reader.Hears.
	Hears bool
	// Anything is set if the operation forwards the request without reading it.
	Anything bool
}

// Fields are parameters, or the fields of an object.
type Fields []Field

// A Field is a parameter or a field of an object.
type Field struct {
	Name     string
	Is       Rule
	Required bool
	// Clearable fields are texts or objects that null removes.
	Clearable bool
	// Default is the value of an omitted number in the query.
	Default int
}

// A Rule says which values are valid: *Text, *Integer, Number, Boolean, *List or *Shape.
type Rule interface{ rule() }

// Number is the rule of a number of at most 15 significant digits: 0, or from 1e-15 to 1e15, positive or negative.
type Number struct{}

// Boolean is the rule of true and false.
type Boolean struct{}

// A List is the rule of a list.
type List struct {
	// Of is the rule of the elements: *Text or *Integer, of which no two may be equal, or *Shape. Nil takes any
	// elements, and reads the texts among them.
	Of          Rule
	Least, Most int
	// Repeats lets two numbers be equal.
	Repeats bool
}

// A Shape is the rule of an object.
type Shape struct {
	Fields Fields
	// AnyOf are fields of which at least one has to be given.
	AnyOf []string
	// Open takes further fields, too. It is for what programs of others send, which nobody here can correct.
	Open bool
	// Names and Values, if set, are the rules of an object that has texts or objects under any names, at most Most of them.
	Names  *Text
	Values Rule
	Most   int
}

func (*Text) rule()    {}
func (*Integer) rule() {}
func (Number) rule()   {}
func (Boolean) rule()  {}
func (*List) rule()    {}
func (*Shape) rule()   {}

// Find returns the field of a name.
func (f Fields) Find(name string) (Field, bool) {
	for _, one := range f {
		if one.Name == name {
			return one, true
		}
	}
	return Field{}, false
}

// Declare returns what a request takes that is read with read, given the rest of what it takes. It calls read with an
// empty request, so read must ask for every value in every request.
func (t Takes) Declare(read func(*Reader)) Takes {
	in := &Reader{r: &http.Request{}, takes: t, declares: true, Settings: &setting.Values{}}
	read(in)
	return in.Takes()
}

// Takes is what was asked for so far.
func (in *Reader) Takes() Takes {
	if in.body != nil {
		in.takes.Body = &in.body.shape
	}
	return in.takes
}

// Sent is the body of a request, and what the request's path names.
type Sent[P, B any] struct {
	Path P
	Body B
}

// Both reads the path of a request and then its body.
func Both[P, B any](path func(*Reader) P, body func(*Object) B) func(*Reader) Sent[P, B] {
	return func(in *Reader) Sent[P, B] { return Sent[P, B]{path(in), body(in.Body())} }
}

// Hearing is Both for what a box says; see Reader.Hears.
func Hearing[P, B any](path func(*Reader) P, body func(*Object) B) func(*Reader) Sent[P, B] {
	return func(in *Reader) Sent[P, B] {
		in.Hears()
		return Both(path, body)(in)
	}
}

// Body reads the body of a request.
func Body[B any](read func(*Object) B) func(*Reader) B {
	return func(in *Reader) B { return read(in.Body()) }
}
