package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/service"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/golden"
)

// answersFile is beside the items.
const answersFile = "answers.json"

// Answers are what the functions of the first recording answered about its items. Like these, they are never recorded again.
type Answers struct {
	Recorded time.Time         `json:"recorded"` // as the items
	Shift    int64             `json:"shift"`    // by how many seconds their times were shifted when they were read
	Values   map[string]string `json:"values"`
	Calls    []exchange        `json:"calls"`
}

// A read is a call whose answer must stay the same. Some are retries of calls that changed something, and change nothing.
type read struct {
	By   string `json:"by"`
	Call string `json:"call"`
	Body string `json:"body,omitempty"`
	Key  string `json:"key,omitempty"` // the Idempotency-Key
}

// An exchange is a read and its answer.
type exchange struct {
	read
	Status int             `json:"status"`
	ETag   string          `json:"etag,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// load stores items as if they had been recorded at an age before now, and returns the shift of their times.
func (w *world) load(ctx context.Context, items []golden.Item, recorded time.Time) (time.Duration, error) {
	by := time.Since(recorded.Add(age)).Truncate(time.Second) - time.Second // earlier rather than later
	for _, i := range items {
		if !i.Recorded.Equal(recorded) {
			continue
		}
		_, err := w.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(dynamolocal.TableName(i.Table)),
			Item: golden.Encoded(shifted(i, by))})
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", i.Table, i.Key(), err)
		}
	}
	return by, nil
}

// make makes a read.
func (w *world) make(r read) (x exchange, err error) {
	var header []string
	if r.Key != "" {
		header = []string{"Idempotency-Key", r.Key}
	}
	a, err := w.ask(r.By, r.Call, r.Body, header...)
	if err != nil {
		return x, fmt.Errorf("%s: %s: %w", r.By, r.Call, err)
	}
	x = exchange{read: r, Status: a.Status, ETag: a.Header.Get("ETag"), Answer: bytes.TrimSpace(a.Body)}
	if strings.HasPrefix(a.Header.Get("Content-Type"), "application/jsonl") {
		x.Answer = slices.Concat([]byte("["), bytes.ReplaceAll(x.Answer, []byte("\n"), []byte(",")), []byte("]"))
	}
	if location := a.Header.Get("Location"); len(x.Answer) == 0 && location != "" {
		x.Answer = json.RawMessage(fmt.Sprintf("{\"Location\":%q}", location))
	}
	x.Answer = bytes.ReplaceAll(x.Answer, []byte(w.URL), []byte("URL"))
	return x, nil
}

// readAnswers reads the recorded answers.
func readAnswers() (all Answers, err error) {
	root, err := service.Root()
	if err != nil {
		return all, err
	}
	text, err := os.ReadFile(filepath.Join(root, golden.Folder, answersFile))
	if err != nil {
		return all, err
	}
	return all, json.Unmarshal(text, &all)
}
