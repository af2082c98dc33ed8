package dynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
)

// A bus is an item with structs inside it. Passengers are the same by their ids, and tickets if nothing differs.
type bus struct {
	ID         string               `json:"factoryId"`
	Driver     *passenger           `json:"driver,omitempty"`
	Passengers []passenger          `json:"passengers,omitempty"`
	Tickets    []ticket             `json:"tickets,omitempty"`
	Lost       map[string]passenger `json:"lost,omitempty"`
	Revision   int64                `json:"revision"`
	dynamo.Unknown
}

type ticket struct {
	Price int64      `json:"price"`
	Of    *passenger `json:"of,omitempty"`
}

// More is what a newer release knows of a passenger.
type more struct {
	passenger
	Meal string `json:"meal,omitempty"`
}

type newerTicket struct {
	Price int64 `json:"price"`
	Of    *more `json:"of,omitempty"`
	Class int64 `json:"class,omitempty"`
}

type newer struct {
	ID         string          `json:"factoryId"`
	Driver     *more           `json:"driver,omitempty"`
	Passengers []more          `json:"passengers,omitempty"`
	Tickets    []newerTicket   `json:"tickets,omitempty"`
	Lost       map[string]more `json:"lost,omitempty"`
	Revision   int64           `json:"revision"`
}

func person(id, meal string) more { return more{passenger{ID: id, Seat: 1}, meal} }

// TestPut_AfterARead_KeepsWhatStructsHave_ThatAreStillTheSame: a newer release wrote the item, and an older one, which
// knows no meals and no classes, changes it.
func TestPut_AfterARead_KeepsWhatStructsHave_ThatAreStillTheSame(t *testing.T) {
	stored := newer{Driver: new(person("d", "soup")), Passengers: []more{person("a", "rice"), person("b", "")}, Revision: 1,
		Tickets: []newerTicket{{1, new(person("a", "rice")), 1}, {2, nil, 2}}, Lost: map[string]more{"x": person("x", "tea"), "y": person("y", "tea")}}
	for name, c := range map[string]struct {
		change func(*bus)
		want   func(*newer)
	}{
		"nothing":          {func(*bus) {}, func(*newer) {}},
		"a field":          {func(b *bus) { b.Driver = &passenger{"d", 7, "n"} }, func(n *newer) { n.Driver.passenger = passenger{"d", 7, "n"} }},
		"another driver":   {func(b *bus) { b.Driver.ID = "e" }, func(n *newer) { n.Driver = new(person("e", "")) }},
		"no driver":        {func(b *bus) { b.Driver = nil }, func(n *newer) { n.Driver = nil }},
		"an entry more":    {func(b *bus) { b.Passengers = append([]passenger{{ID: "c"}}, b.Passengers...) }, func(n *newer) { n.Passengers = append([]more{{passenger: passenger{ID: "c"}}}, n.Passengers...) }},
		"an entry fewer":   {func(b *bus) { b.Passengers = b.Passengers[:1] }, func(n *newer) { n.Passengers = n.Passengers[:1] }},
		"an entry changed": {func(b *bus) { b.Passengers[0].Seat = 9 }, func(n *newer) { n.Passengers[0].Seat = 9 }},
		"another order":    {func(b *bus) { b.Passengers[0], b.Passengers[1] = b.Passengers[1], b.Passengers[0] }, func(n *newer) { n.Passengers[0], n.Passengers[1] = n.Passengers[1], n.Passengers[0] }},
		"no list":          {func(b *bus) { b.Passengers = nil }, func(n *newer) { n.Passengers = nil }},
		"a ticket fewer":   {func(b *bus) { b.Tickets = b.Tickets[1:] }, func(n *newer) { n.Tickets = n.Tickets[1:] }},
		"another ticket":   {func(b *bus) { b.Tickets[0].Price = 5 }, func(n *newer) { n.Tickets[0] = newerTicket{5, new(person("a", "")), 0} }},
		"a found one":      {func(b *bus) { delete(b.Lost, "x") }, func(n *newer) { n.Lost = map[string]more{"y": person("y", "tea")} }},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
				db, id := dynamo.Open(client, time.Now), uuid.NewString()
				key := dynamo.Key{"factoryId": id}
				before := clone(t, stored)
				before.ID = id
				expect.OK(t, writes["alone"](call(t), db, before))
				var was, next bus
				expect.Value(db.Get(t.Context(), dynamo.Factories, key, &was))(t)
				expect.Value(db.Get(t.Context(), dynamo.Factories, key, &next))(t)
				next.Unknown = dynamo.Unknown{} // rules may build an item anew
				c.change(&next)
				next.Revision++
				expect.OK(t, db.Commit(call(t), dynamo.TransactPut("a", dynamo.Factories, was, next, dynamo.AtRevision("factoryId", was.Revision))))
				var got newer
				expect.Value(db.Get(t.Context(), dynamo.Factories, key, &got))(t)
				c.want(&before)
				before.Revision++
				expect.Equal(t, got, before, "the item")
			})
		})
	}
}

// clone copies an item as a store does.
func clone(t *testing.T, n newer) (c newer) {
	t.Helper()
	expect.OK(t, dynamo.Decode(dynamo.Factories, expect.Value(dynamo.Encode(n))(t), &c))
	return c
}

func TestGet_ItemIsOfThisRelease_NothingIsUnknown(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		db, id := dynamo.Open(client, time.Now), uuid.NewString()
		b := expect.Filled[bus](0)
		b.ID = id
		expect.OK(t, writes["alone"](call(t), db, b))
		got := bus{}
		expect.Value(db.Get(t.Context(), dynamo.Factories, dynamo.Key{"factoryId": id}, &got))(t)
		expect.Equal(t, got, b, "the item")
	})
}
