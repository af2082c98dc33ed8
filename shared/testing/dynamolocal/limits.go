package dynamolocal

import (
	"strings"

	"github.com/truora/minidyn/server"
)

// DynamoDB's maximums, in bytes but for digits.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const (
	largestItem        = 400 << 10
	largestTransaction = 4 << 20
	largestExpression  = 4 << 10
	longestPartition   = 2048 // a key attribute
	longestSort        = 1024
	mostDigits         = 38 // of a number
)

// fits refuses what DynamoDB refuses because of its size, before it reads the item.
func (e *engine) fits(w write) error {
	for _, expression := range []*string{w.UpdateExpression, w.ConditionExpression} {
		if expression != nil && len(*expression) > largestExpression {
			return invalid("Invalid expression: Expression size has exceeded the maximum allowed size; expression size: %d", len(*expression))
		}
	}
	for _, values := range []item{w.Item, w.Key, w.ExpressionAttributeValues} {
		for _, v := range values {
			if err := digits(v); err != nil {
				return err
			}
		}
	}
	if size(w.Item) > largestItem {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	s := e.tables[*w.TableName]
	for _, attributes := range s.keys() {
		for i, name := range attributes {
			for _, v := range []*server.AttributeValue{w.Key[name], w.Item[name]} {
				switch n := textSize(v); {
				case i == 0 && n > longestPartition:
					return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes")
				case i == 1 && n > longestSort:
					return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
				}
			}
		}
	}
	return nil
}

func textSize(v *server.AttributeValue) int {
	if v == nil || v.S == nil {
		return 0
	}
	return len(*v.S)
}

// digits refuses a number with more significant digits than DynamoDB stores, in whatever list or map it is.
func digits(v *server.AttributeValue) error {
	if v == nil {
		return nil
	}
	if v.N != nil && len(significant(*v.N)) > mostDigits {
		return invalid("Attempting to store more than 38 significant digits in a Number")
	}
	for _, x := range v.L {
		if err := digits(x); err != nil {
			return err
		}
	}
	for _, x := range v.M {
		if err := digits(x); err != nil {
			return err
		}
	}
	return nil
}

// significant are the significant digits of a number.
func significant(n string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(n, "+-")), "e")
	return strings.Trim(strings.Replace(mantissa, ".", "", 1), "0")
}

// large refuses an item that an update would leave too large.
func (c change) large() error {
	if size(c.is) > largestItem {
		return invalid("Item size to update has exceeded the maximum allowed size")
	}
	return nil
}

// size is that of an item as DynamoDB counts it: each name and value, and for lists and maps three bytes and one for each
// element. A number takes a byte, one for each two digits, and one if it is negative.
func size(i item) (n int) {
	for name, v := range i {
		n += len(name) + sizeOf(v)
	}
	return n
}

func sizeOf(v *server.AttributeValue) int {
	switch {
	case v == nil:
		return 0
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		n := 1 + (len(significant(*v.N))+1)/2
		if strings.HasPrefix(*v.N, "-") {
			n++
		}
		return n
	case v.B != nil:
		return len(v.B)
	case v.L != nil:
		n := 3 + len(v.L)
		for _, x := range v.L {
			n += sizeOf(x)
		}
		return n
	case v.M != nil:
		return 3 + len(v.M) + size(v.M)
	}
	return 1 // a boolean, or null
}
