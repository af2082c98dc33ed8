// Package service runs the whole service on this machine: the store, the store front, a pool of
// processes for each function, and the gateway. ./scripts/dev and the end-to-end tests both use
// it.
package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/gateway"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/bucket"
	"wavegate/shared/testing/dynamolocal"
)

// Options configure a Service. Only Functions is required.
type Options struct {
	// Functions is the directory with <function>/bootstrap for this machine; see Build.
	Functions string
	// Beside is a second version of the functions; nil means none. See Answer.
	Beside *Beside
	// Address is the address to listen on; empty means a free port on loopback.
	Address string
	// Bell is the address of the bell's URL; empty means that there is no bell.
	Bell string
	// Door is the address of the door's URL; empty means that there is no door.
	Door string
	// Artifacts is the address of the store of artifacts; empty means a free port on loopback. Its files are in
	// ArtifactFolder; empty means a folder that is removed at the end.
	Artifacts, ArtifactFolder string
	// Prefix is a path before /api, such as /prod; see gateway.Options.
	Prefix string
	// DDIRoot adds the second paths of hawkBit's DDI; see gateway.Options.
	DDIRoot bool
	// ForeignTokens lets DDI clients call with tokens of another form.
	ForeignTokens bool
	// Origins are the origins that are allowed to call from a browser; see gateway.Options.
	Origins []string
	// Store is the store behind the front, which the caller must close. Nil means an embedded
	// store that the service closes.
	Store *dynamolocal.Store
	// Issuers are the issuers that the authorizer trusts; nil means those of devissuer.Dir.
	Issuers *devissuer.Issuers
	// People sign in to the page without a form; see devissuer.Provider.Know.
	People []devissuer.Claims
	// Environment returns further variables ("NAME=value") for a function. They replace those
	// that the service sets.
	Environment func(function string) []string
	// Processes limits the processes of one function; 0 means runtime.DefaultProcesses.
	Processes int
	// Account limits the calls of all functions together; nil means no limit.
	Account *runtime.Account
	// Schedule runs each task on its schedule, or at the interval Every if that is set.
	// Otherwise a task runs only when RunTask is called.
	Schedule bool
	Every    time.Duration
	// Operations replaces the table of operations; for tests.
	Operations []operations.Operation
	// Log receives each line that a function writes. Logs keeps them too.
	Log func(function, line string)
	// Access is called after each answer.
	Access func(gateway.Access)
}

// authorizer describes the authorizer as an operation: its permissions.
var authorizer = operations.Operation{ID: operations.Authorizer, Grants: slices.Concat(operations.AuthorizerGrants, operations.ForeignGrants)}

// A Service runs until Stop.
type Service struct {
	// URL is the API's URL, with the prefix and without a slash at the end.
	URL string
	// BellURL is the bell's URL, without a slash at the end; empty means that there is none.
	BellURL string
	// DoorURL is the door's, in the same form.
	DoorURL string
	// ArtifactURL is the URL of the store of artifacts, which Bucket answers.
	ArtifactURL string
	Bucket      *bucket.Bucket
	// Store is the store, and Front is the proxy that the functions use.
	Store *dynamolocal.Store
	Front *storefront.Front
	// Gateway answers at URL.
	Gateway *gateway.Gateway
	// DB uses the store directly, to check what was written.
	DB *dynamodb.Client

	issuers   *devissuer.Issuers
	functions map[string]*runtime.Function
	beside    map[string]*runtime.Function // of the second version
	versions  versions
	logs      logs
	api       net.Listener
	ports     []port // of functions with their own URLs
	// bellSecret makes the bell's addresses.
	bellSecret string
	// login describes how people sign in, and loginOrigin is where.
	login       loginAnswer
	loginOrigin string
	stop        []func()
	once        sync.Once
}

// Start starts everything and returns when the service answers calls. After an error, nothing keeps running.
func Start(ctx context.Context, o Options) (s *Service, err error) {
	s = &Service{Store: o.Store, issuers: o.Issuers, functions: map[string]*runtime.Function{}, beside: map[string]*runtime.Function{}}
	if o.Beside != nil {
		s.versions.random = rand.New(rand.NewPCG(o.Beside.Seed, 0))
	}
	s.logs.forward = o.Log
	defer func() {
		if err != nil {
			s.Stop()
			s = nil
		}
	}()
	if o.Operations == nil {
		o.Operations = table.All
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if s.issuers == nil {
		if s.issuers, err = devissuer.Load(""); err != nil {
			return s, err
		}
	}
	if err = s.startStore(ctx, o); err != nil {
		return s, err
	}
	if err = s.startLogin(o.People); err != nil {
		return s, err
	}
	if err = s.openURLs(o); err != nil {
		return s, err
	}
	if err = s.startBucket(o); err != nil {
		return s, err
	}
	if err = s.addFunctions(o); err != nil {
		return s, err
	}
	s.serveURLs(o)
	s.serveAPI(o)
	if o.Schedule {
		s.schedule(o.Every)
	}
	return s, nil
}

func (s *Service) startStore(ctx context.Context, o Options) error {
	if s.Store == nil {
		embedded, err := dynamolocal.Embedded()
		if err != nil {
			return err
		}
		s.Store = embedded
		s.onStop(func() { embedded.Close() })
	}
	s.DB = s.Store.Client()
	if err := dynamolocal.CreateTables(ctx, s.DB); err != nil {
		return err
	}
	if err := dynamo.CheckForm(ctx, s.DB, dynamolocal.TableName(dynamo.Progress)); err != nil {
		return err
	}
	if err := dynamo.CheckFirst(ctx, s.DB, dynamolocal.TableName(dynamo.Channels)); err != nil {
		return err
	}
	grants := map[string][]operations.Grant{authorizer.ID: authorizer.Grants}
	for _, op := range ownURLs {
		grants[op.ID] = op.Grants
	}
	for _, op := range o.Operations {
		grants[op.ID] = op.Grants
	}
	for _, task := range table.Tasks {
		grants[task.ID] = task.Grants
	}
	front, err := storefront.Start(storefront.Options{Endpoint: s.Store.Endpoint, Grants: grants, TableName: dynamolocal.TableName})
	if err != nil {
		return err
	}
	s.Front = front
	s.onStop(func() { front.Close() })
	return nil
}

func (s *Service) addFunctions(o Options) error {
	add := func(name string, timeout time.Duration, memory int, env []string) error {
		binary, err := filepath.Abs(filepath.Join(o.Functions, name, "bootstrap"))
		if err != nil {
			return err
		}
		if _, err := os.Stat(binary); err != nil {
			return fmt.Errorf("service: the function %s is not built: %w", name, err)
		}
		if o.Environment != nil {
			env = append(env, o.Environment(name)...)
		}
		spec := runtime.Spec{
			Name: name, Binary: binary, Timeout: timeout, MemoryMB: memory,
			Processes: o.Processes, Env: env, Log: s.logs.add,
		}
		f := runtime.New(spec)
		s.functions[name] = f
		s.onStop(f.Stop)
		return s.addBeside(o, spec)
	}
	for _, op := range slices.Concat(o.Operations, ownURLs) {
		env := append(s.environment(op), string(setting.CORSOrigins)+"="+strings.Join(o.Origins, ","))
		if o.ForeignTokens && slices.Contains(op.Settings, setting.ForeignTokens) {
			env = append(env, string(setting.ForeignTokens)+"=true")
		}
		if slices.Contains(op.Settings, setting.FleetIssuers) {
			env = append(env, string(setting.FleetIssuers)+"="+devissuer.Fleet)
		}
		if err := add(op.ID, op.Timeout, op.MemoryMB, env); err != nil {
			return err
		}
	}
	for _, task := range table.Tasks {
		if err := add(task.ID, task.Timeout, task.MemoryMB, s.environment(task.Operation)); err != nil {
			return err
		}
	}
	env := append(s.environment(authorizer), token.Setting+"="+s.issuers.Setting())
	if o.ForeignTokens {
		env = append(env, string(setting.ForeignTokens)+"=true")
	}
	if err := add(authorizer.ID, operations.HelperTimeout, operations.HelperMemoryMB, env); err != nil {
		return err
	}
	region := "AWS_REGION=" + runtime.Region
	if err := add(operations.Docs, operations.HelperTimeout, operations.HelperMemoryMB, []string{region}); err != nil {
		return err
	}
	console := []string{region, string(setting.LoginOrigin) + "=" + s.loginOrigin, string(setting.ArtifactStoreURL) + "=" + s.ArtifactURL}
	return add(operations.Console, operations.HelperTimeout, operations.HelperMemoryMB, console)
}

// environment is what the stack gives a function: the tables in its row, and credentials for
// these tables only.
func (s *Service) environment(op operations.Operation) []string {
	env := []string{
		"AWS_REGION=" + runtime.Region,
		"AWS_DEFAULT_REGION=" + runtime.Region,
		"AWS_ACCESS_KEY_ID=" + storefront.AccessKey(op.ID),
		"AWS_SECRET_ACCESS_KEY=" + secretKey,
		"AWS_SESSION_TOKEN=local",
		"AWS_ENDPOINT_URL_DYNAMODB=" + s.Front.URL(),
	}
	if slices.Contains(op.Settings, setting.ReportShards) {
		// The embedded store reads every row for each shard.
		env = append(env, setting.ReportShards.Assign(1))
	}
	if slices.Contains(op.Settings, setting.LimitDeadlineMS) {
		// A machine that is busy with tests or a fleet may take longer than a store on AWS ever does.
		env = append(env, setting.LimitDeadlineMS.Assign(setting.Ranges[setting.LimitDeadlineMS].Most))
	}
	env = append(env, s.urlEnvironment(op)...)
	var tables []dynamo.TableID
	for _, g := range op.Grants {
		if !slices.Contains(tables, g.Table) {
			tables = append(tables, g.Table)
		}
	}
	return append(env, dynamolocal.Environment(tables...)...)
}

func (s *Service) serveAPI(o Options) {
	s.Gateway = gateway.New(gateway.Options{
		Login:      s.login,
		Console:    s.invoker(o.Account, operations.Console),
		Operations: o.Operations,
		Functions:  func(id string) gateway.Invoker { return s.invoker(o.Account, id) },
		Authorizer: s.invoker(o.Account, operations.Authorizer),
		Prefix:     o.Prefix,
		DDIRoot:    o.DDIRoot,

		ForeignTokens: o.ForeignTokens,
		Access:        o.Access,
		Docs:          s.invoker(o.Account, operations.Docs),
		Origins:       o.Origins,
	})
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := s.Gateway.Serve(server, s.api); !errors.Is(err, http.ErrServerClosed) {
			s.logs.add("gateway", "the gateway stopped: "+err.Error())
		}
	}()
	s.onStop(func() { server.Close(); <-served })
}

// Token makes an access token that the service accepts.
func (s *Service) Token(c devissuer.Claims) (string, error) { return s.issuers.Token(c) }

// Bearer is the Authorization header of a user with roles, in an organization or none.
func (s *Service) Bearer(user, organization string, roles ...auth.Role) (string, error) {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	t, err := s.Token(devissuer.Claims{User: user, Organization: organization, Roles: names})
	return "Bearer " + t, err
}

// Function returns the processes of a function of the first version, to count, list or recycle them. An unknown name
// gives nil.
func (s *Service) Function(name string) *runtime.Function { return s.functions[name] }

// PIDs lists the running processes of the named functions, or of all functions, of both versions.
func (s *Service) PIDs(names ...string) []int {
	var all []int
	for _, functions := range []map[string]*runtime.Function{s.functions, s.beside} {
		for name, f := range functions {
			if len(names) == 0 || slices.Contains(names, name) {
				all = append(all, f.PIDs()...)
			}
		}
	}
	return all
}

// Logs lists the output of a function, oldest first. The oldest of very many lines are dropped.
func (s *Service) Logs(function string) []string { return s.logs.of(function) }

func (s *Service) onStop(end func()) { s.stop = append(s.stop, end) }

// Stop ends everything that Start started, in reverse order, and returns when all has ended. It
// may be called more than once.
func (s *Service) Stop() {
	s.once.Do(func() {
		for _, end := range slices.Backward(s.stop) {
			end()
		}
	})
}
