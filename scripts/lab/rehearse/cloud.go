package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	region  = "eu-central-1"
	account = "111122223333"
)

// startTimeout limits the start of the emulator.
const startTimeout = time.Minute

// credentials are arbitrary; the emulator uses a key of twelve digits as the account.
var credentials = aws.Credentials{AccessKeyID: account, SecretAccessKey: "test"}

// A cloud is a running emulator.
type cloud struct {
	endpoint string
	end      context.CancelFunc
	ended    chan struct{}
}

// startCloud runs the emulator on a free loopback port, and waits until it accepts connections.
func startCloud(ctx context.Context, program, logFile string) (*cloud, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := exec.CommandContext(ctx, program, "--bind", address, "ministack.app:app")
	_, port, _ := net.SplitHostPort(address)
	c.Env = append(os.Environ(), "GATEWAY_PORT="+port, "MINISTACK_REGION="+region, "MINISTACK_ACCOUNT_ID="+account,
		"AWS_ENDPOINT_URL=http://"+address, "AWS_ENDPOINT_URL_DYNAMODB=http://"+address) // for the functions, which it runs
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it ends its functions
	c.WaitDelay = startTimeout
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		cancel()
		return nil, err
	}
	cloud := &cloud{endpoint: "http://" + address, end: cancel, ended: make(chan struct{})}
	go func() {
		_ = c.Wait()
		log.Close()
		close(cloud.ended)
	}()
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if conn, err := net.Dial("tcp", address); err == nil {
			return cloud, conn.Close()
		}
		select {
		case <-cloud.ended:
			return nil, fmt.Errorf("the emulator ended; see %s", logFile)
		case <-time.After(100 * time.Millisecond):
		}
	}
	cloud.stop()
	return nil, fmt.Errorf("the emulator does not answer within %s; see %s", startTimeout, logFile)
}

func (c *cloud) stop() {
	c.end()
	<-c.ended
}

// environment lets a program find the emulator, and contains nothing of the user's own account.
func (c *cloud) environment() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + c.endpoint, "AWS_ENDPOINT_URL_DYNAMODB=" + c.endpoint, "AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region,
		"AWS_ACCESS_KEY_ID=" + credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + credentials.SecretAccessKey, "AWS_SESSION_TOKEN=",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// call sends a signed request to a service and returns the answer's body.
func (c *cloud) call(ctx context.Context, service, contentType, target string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType)
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), service, region, time.Now()); err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %s", service, answer.StatusCode, text)
	}
	return text, err
}

// A resource is CloudFormation's description of one.
type resource struct {
	ID       string `xml:"LogicalResourceId"`
	Physical string `xml:"PhysicalResourceId"`
	Type     string `xml:"ResourceType"`
	Status   string `xml:"ResourceStatus"`
}

// resources lists a stack's resources, by logical id.
func (c *cloud) resources(ctx context.Context, stack string) (map[string]resource, error) {
	all := map[string]resource{}
	for next := ""; ; {
		var page struct {
			Result struct {
				Resources []resource `xml:"StackResourceSummaries>member"`
				Next      string     `xml:"NextToken"`
			} `xml:"ListStackResourcesResult"`
		}
		arguments := url.Values{"StackName": {stack}}
		if next != "" {
			arguments.Set("NextToken", next)
		}
		if err := c.cloudFormation(ctx, "ListStackResources", arguments, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Result.Resources {
			all[r.ID] = r
		}
		if next = page.Result.Next; next == "" {
			return all, nil
		}
	}
}

// stacks lists the names and states of the existing stacks.
func (c *cloud) stacks(ctx context.Context) (map[string]string, error) {
	var page struct {
		Result struct {
			Stacks []struct{ StackName, StackStatus string } `xml:"Stacks>member"`
		} `xml:"DescribeStacksResult"`
	}
	if err := c.cloudFormation(ctx, "DescribeStacks", url.Values{}, &page); err != nil {
		return nil, err
	}
	states := map[string]string{}
	for _, s := range page.Result.Stacks {
		if s.StackStatus != "DELETE_COMPLETE" {
			states[s.StackName] = s.StackStatus
		}
	}
	return states, nil
}

// unprotect lets a stack be deleted.
func (c *cloud) unprotect(ctx context.Context, stack string) error {
	return c.cloudFormation(ctx, "UpdateTerminationProtection", url.Values{"StackName": {stack}, "EnableTerminationProtection": {"false"}}, nil)
}

func (c *cloud) cloudFormation(ctx context.Context, action string, arguments url.Values, into any) error {
	arguments.Set("Action", action)
	arguments.Set("Version", "2010-05-15")
	text, err := c.call(ctx, "cloudformation", "application/x-www-form-urlencoded", "", []byte(arguments.Encode()))
	if err != nil || into == nil {
		return err
	}
	return xml.Unmarshal(text, into)
}

// parameters reads the parameters of Systems Manager below a path.
func (c *cloud) parameters(ctx context.Context, path string) (map[string]string, error) {
	values := map[string]string{}
	for next := ""; ; {
		request, err := json.Marshal(map[string]any{"Path": path, "Recursive": true, "NextToken": next})
		if next == "" {
			request, err = json.Marshal(map[string]any{"Path": path, "Recursive": true})
		}
		if err != nil {
			return nil, err
		}
		text, err := c.call(ctx, "ssm", "application/x-amz-json-1.1", "AmazonSSM.GetParametersByPath", request)
		if err != nil {
			return nil, err
		}
		var page struct {
			Parameters []struct{ Name, Value string }
			NextToken  string
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Parameters {
			values[p.Name] = p.Value
		}
		if next = page.NextToken; next == "" {
			return values, nil
		}
	}
}

// db talks to the emulated DynamoDB.
func (c *cloud) db() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: &c.endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return credentials, nil }),
	})
}

// tables lists all tables, of any stack.
func (c *cloud) tables(ctx context.Context) ([]string, error) {
	var all []string
	pages := dynamodb.NewListTablesPaginator(c.db(), &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, errors.Join(errors.New("list the tables"), err)
		}
		all = append(all, page.TableNames...)
	}
	return all, nil
}

// indexes lists the global indexes of a table.
func (c *cloud) indexes(ctx context.Context, table string) ([]string, error) {
	out, err := c.db().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, x := range out.Table.GlobalSecondaryIndexes {
		names = append(names, *x.IndexName)
	}
	return names, nil
}

// settings describes what a backup does not have of a table.
func (c *cloud) settings(ctx context.Context, name string) (string, error) {
	db := c.db()
	out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return "", err
	}
	ttl, err := db.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return "", err
	}
	tags, err := db.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: out.Table.TableArn})
	if err != nil {
		return "", err
	}
	slices.SortFunc(tags.Tags, func(a, b types.Tag) int { return strings.Compare(*a.Key, *b.Key) })
	b, err := json.Marshal([]any{
		out.Table.StreamSpecification, ttl.TimeToLiveDescription, out.Table.DeletionProtectionEnabled, out.Table.SSEDescription, tags.Tags,
	})
	return string(b), err
}

// drop deletes a table, also a protected one.
func (c *cloud) drop(ctx context.Context, name string) error {
	db := c.db()
	if _, err := db.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: new(false)}); err != nil {
		return err
	}
	_, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	return err
}

// front gives an API of the emulator its own loopback address, because the emulator identifies APIs by host name.
func (c *cloud) front(api string) (address string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	target, err := url.Parse(c.endpoint)
	if err != nil {
		return "", nil, errors.Join(err, l.Close())
	}
	server := &http.Server{ReadHeaderTimeout: startTimeout, Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = api + ".execute-api.localhost"
	}}}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}
