package input

// Takes is what an operation takes, as its row in shared/operations declares it. The contract says the same.
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
	// Names and Texts, if set, are the rules of an object that has texts under any names, at most Most of them.
	Names, Texts *Text
	Most         int
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

// ruleOf returns the rule of a field, and the field. To ask for one that is not declared so is a mistake in the code,
// which shows in the first call.
func ruleOf[R Rule](declared Fields, name string) (R, Field) {
	field, _ := declared.Find(name)
	rule, ok := field.Is.(R)
	if !ok {
		panic("input: the operation declares no such " + name)
	}
	return rule, field
}
