package dynamolocal

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
)

// removal completes minidyn, which takes an update expression's REMOVE and leaves the attributes where
// they are. An update that removes something has the store to itself until what it removes is gone, so
// that nobody sees it half done.
type removal struct {
	store http.Handler
	mu    sync.RWMutex
}

// update is the part of an UpdateItem, or of a transaction's Update, that tells what it removes.
type update struct {
	TableName                string
	Key                      map[string]json.RawMessage
	UpdateExpression         string
	ExpressionAttributeNames map[string]string
}

func (h *removal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has left
	}
	removing := removingUpdates(operationOf(r), body)
	if len(removing) == 0 {
		h.mu.RLock()
		defer h.mu.RUnlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.store.ServeHTTP(w, r)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := h.call(r, operationOf(r), body)
	if answer.Code == http.StatusOK {
		for _, u := range removing {
			h.remove(r, u)
		}
		answer.Body = bytes.NewBuffer(without(answer.Body.Bytes(), removing))
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func operationOf(r *http.Request) string {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return operation
}

// removingUpdates lists the updates of a call that remove something.
func removingUpdates(operation string, body []byte) []update {
	if !bytes.Contains(body, []byte("REMOVE ")) {
		return nil
	}
	var all []update
	switch operation {
	case "UpdateItem":
		var u update
		if json.Unmarshal(body, &u) == nil {
			all = []update{u}
		}
	case "TransactWriteItems":
		var in struct{ TransactItems []struct{ Update *update } }
		if json.Unmarshal(body, &in) == nil {
			for _, t := range in.TransactItems {
				if t.Update != nil {
					all = append(all, *t.Update)
				}
			}
		}
	}
	var removing []update
	for _, u := range all {
		if len(u.removed()) > 0 {
			removing = append(removing, u)
		}
	}
	return removing
}

var clause = regexp.MustCompile(`(?:^|\s)(SET|ADD|DELETE|REMOVE)\s`)

// removed lists the attributes that the update removes whole.
func (u update) removed() []string {
	var names []string
	at := clause.FindAllStringSubmatchIndex(u.UpdateExpression, -1)
	for i, m := range at {
		if u.UpdateExpression[m[2]:m[3]] != "REMOVE" {
			continue
		}
		end := len(u.UpdateExpression)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		for _, name := range strings.Split(u.UpdateExpression[m[1]:end], ",") {
			name = strings.TrimSpace(name)
			if full, ok := u.ExpressionAttributeNames[name]; ok {
				name = full
			}
			names = append(names, name)
		}
	}
	return names
}

// remove rewrites the item without what the update removed.
func (h *removal) remove(r *http.Request, u update) {
	get, _ := json.Marshal(map[string]any{"TableName": u.TableName, "Key": u.Key, "ConsistentRead": true})
	var found struct{ Item map[string]json.RawMessage }
	if json.Unmarshal(h.call(r, "GetItem", get).Body.Bytes(), &found) != nil || found.Item == nil {
		return
	}
	for _, name := range u.removed() {
		delete(found.Item, name)
	}
	put, _ := json.Marshal(map[string]any{"TableName": u.TableName, "Item": found.Item})
	h.call(r, "PutItem", put)
}

// without is an update's answer less what was removed.
func without(answer []byte, removing []update) []byte {
	var out map[string]json.RawMessage
	var attributes map[string]json.RawMessage
	if json.Unmarshal(answer, &out) != nil || json.Unmarshal(out["Attributes"], &attributes) != nil {
		return answer // a transaction's answer holds no attributes
	}
	for _, u := range removing {
		for _, name := range u.removed() {
			delete(attributes, name)
		}
	}
	out["Attributes"], _ = json.Marshal(attributes)
	whole, _ := json.Marshal(out)
	return whole
}

func (h *removal) call(r *http.Request, operation string, body []byte) *httptest.ResponseRecorder {
	request := r.Clone(r.Context())
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	h.store.ServeHTTP(answer, request)
	return answer
}
