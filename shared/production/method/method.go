// Package method is about production methods: how a product is made in a factory.
package method

import "time"

// A Method is a production method. Two may have the same name.
type Method struct {
	MethodID  string    `json:"methodId"` // UUID, version 7: ids are in the order of creation
	FactoryID string    `json:"factoryId"`
	ProductID string    `json:"productId"` // UUID, in lower case
	Name      string    `json:"name"`      // 1 to 200 characters
	CreatedAt time.Time `json:"createdAt"`
	Revision  int64     `json:"revision"` // 1: a method does not change
}

// A Draft is a caller's wish to create a method.
type Draft struct {
	ProductID string `json:"productId"`
	Name      string `json:"name"`
}

// create makes the method of a draft.
func (d Draft) create(id, factoryID string, at time.Time) Method {
	return Method{MethodID: id, FactoryID: factoryID, ProductID: d.ProductID, Name: d.Name, CreatedAt: at, Revision: 1}
}
