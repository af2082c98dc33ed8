package service

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"wavegate/scripts/local/gateway"
	"wavegate/scripts/local/runtime"
)

// A Beside is a second version of the functions, which answers calls beside the first one, as during a deploy. Both
// have the same tables, permissions and settings: those of the first version's rows, because a deploy changes a
// function's role before its code.
type Beside struct {
	// Functions is the directory with the second version's <function>/bootstrap.
	Functions string
	// Seed decides which version answers which call.
	Seed uint64
}

// A Turn says which version of the functions answers.
type Turn int

const (
	// Both versions answer, each about half of the calls.
	Both Turn = iota
	// First is Options.Functions.
	First
	// Second is Beside.Functions.
	Second
)

// versions decide which version answers a call.
type versions struct {
	mu     sync.Mutex
	turn   Turn
	random *rand.Rand
}

func (v *versions) second() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.turn == Second || v.turn == Both && v.random.IntN(2) == 1
}

// Answer changes which version answers the calls from now on. Calls that are under way are not affected. Without a
// second version it changes nothing.
func (s *Service) Answer(by Turn) {
	s.versions.mu.Lock()
	defer s.versions.mu.Unlock()
	s.versions.turn = by
}

// addBeside adds the second version's function, if there is one. A function that the second version lacks is always
// the first's.
func (s *Service) addBeside(o Options, spec runtime.Spec) error {
	if o.Beside == nil {
		return nil
	}
	binary, err := filepath.Abs(filepath.Join(o.Beside.Functions, spec.Name, "bootstrap"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	spec.Binary = binary
	f := runtime.New(spec)
	s.beside[spec.Name] = f
	s.onStop(f.Stop)
	return nil
}

// invoker calls a function within the limits of an account, if there is one, of the version whose turn it is.
func (s *Service) invoker(account *runtime.Account, name string) gateway.Invoker {
	first := account.Caller(s.functions[name])
	f, found := s.beside[name]
	if !found {
		return first
	}
	return either{&s.versions, first, account.Caller(f)}
}

// either calls a function of two versions.
type either struct {
	versions      *versions
	first, second gateway.Invoker
}

func (e either) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	if e.versions.second() {
		return e.second.Invoke(ctx, event)
	}
	return e.first.Invoke(ctx, event)
}
