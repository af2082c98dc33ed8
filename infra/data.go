package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/jsii-runtime-go"

	"wavegate/shared/platform/dynamo"
)

// held is what the other stacks need to know about the data stack.
type held struct {
	tables map[dynamo.TableID]tableRef
	// pool is the user pool for people; nil: their tokens come from an issuer of the settings.
	pool *poolRef
	// artifacts is where the bytes of artifacts are.
	artifacts artifactsRef
}

// A tableRef refers to a table, and its stream if it has one.
type tableRef struct{ name, arn, stream *string }

// A poolRef refers to the user pool, the issuer of its tokens, and the function that writes those tokens.
type poolRef struct{ id, url, trigger *string }

// addData makes the tables, and the user pool with its groups and its trigger. It makes no key: the setting kmsKeyArn
// refers to one, which outlives every stack.
func addData(p part) held {
	h := held{tables: p.addTables(), artifacts: p.addArtifacts()}
	if p.settings.OwnUserPool() {
		h.pool = p.addUserPool()
	}
	return h
}

// parameter is the name of a Systems Manager parameter through which a deployment's stacks share a value.
func (p part) parameter(name string) string {
	return "/wavegate/" + string(p.settings.Stage) + "/" + name
}

const (
	parameterPool    = "pool/id"
	parameterPoolURL = "pool/url"
	parameterTrigger = "pool/trigger"
	parameterStream  = "tables/audit/stream"
	parameterBucket  = "artifacts/bucket"
	parameterURL     = "artifacts/url"
)

func parameterTable(id dynamo.TableID) string { return "tables/" + string(id) }

// publish writes the names that the other stacks read.
func (p part) publish(h held) {
	write := func(name, description string, value *string) {
		awsssm.NewCfnParameter(p.stack, jsii.String("parameter-"+name), &awsssm.CfnParameterProps{
			Name: jsii.String(p.parameter(name)), Type: jsii.String("String"), Value: value, Description: &description,
		})
	}
	for _, t := range dynamo.Tables {
		write(parameterTable(t.ID), fmt.Sprintf("The name of the table %s", t.ID), h.tables[t.ID].name)
	}
	if p.settings.Events.On {
		write(parameterStream, "The stream of the audit table", h.tables[dynamo.Audit].stream)
	}
	if p.settings.Artifacts {
		write(parameterBucket, "The bucket with the artifacts' bytes", h.artifacts.bucket)
		write(parameterURL, "Where boxes download artifacts", h.artifacts.url)
	}
	if h.pool != nil {
		write(parameterPool, "The id of the user pool", h.pool.id)
		write(parameterPoolURL, "The issuer of the user pool's tokens", h.pool.url)
		if p.settings.Alarms { // see publishedNames
			write(parameterTrigger, "The function that writes the user pool's tokens", h.pool.trigger)
		}
	}
}

// readTable reads the name of a table. With one that was made anew the template changes, so that functions get new versions.
func (p part) readTable(id dynamo.TableID) *string {
	return p.readAs(parameterTable(id)+p.remade(id), parameterTable(id))
}

// remade marks what belongs to a table that was made anew.
func (p part) remade(id dynamo.TableID) string {
	if n := p.settings.RemadeTables[id]; n > 0 {
		return fmt.Sprintf("-%d", n)
	}
	return ""
}

// read reads one of the names. CloudFormation reads it at each deploy.
func (p part) read(name string) *string { return p.readAs(name, name) }

func (p part) readAs(id, name string) *string {
	// The CDK's own name has 70 characters, which a large template repeats some hundred times.
	return awscdk.NewCfnParameter(p.stack, jsii.String(strings.ReplaceAll(id, "/", "-")), &awscdk.CfnParameterProps{
		Type: jsii.String("AWS::SSM::Parameter::Value<String>"), Default: jsii.String(p.parameter(name)),
	}).ValueAsString()
}

// publishedNames reads the names that metrics have as dimensions: those of the tables and of the pool's trigger.
func (p part) publishedNames() held {
	h := held{tables: map[dynamo.TableID]tableRef{}}
	for _, id := range watchedTables {
		h.tables[id] = tableRef{name: p.readTable(id)}
	}
	if p.settings.OwnUserPool() && p.settings.Alarms { // only alarms look at it
		h.pool = &poolRef{trigger: p.read(parameterTrigger)}
	}
	return h
}

// published reads the values of publish that the service stack needs.
func (p part) published() held {
	h := held{tables: map[dynamo.TableID]tableRef{}}
	for _, t := range dynamo.Tables {
		// A restored table's name is in the template, so that functions get new versions. A parameter's new value would not
		// reach the versions that take calls.
		name := nonEmpty(p.settings.RestoredTables[t.ID])
		if name == nil {
			name = p.readTable(t.ID)
		}
		h.tables[t.ID] = tableRef{name: name, arn: p.stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("dynamodb"), Resource: jsii.String("table"), ResourceName: name,
		})}
	}
	if p.settings.OwnUserPool() {
		h.pool = &poolRef{id: p.read(parameterPool), url: p.read(parameterPoolURL)}
	}
	if p.settings.Artifacts {
		name := p.read(parameterBucket)
		h.artifacts = artifactsRef{bucket: name, url: p.read(parameterURL), arn: p.stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("s3"), Region: jsii.String(""), Account: jsii.String(""), Resource: name,
		})}
	}
	return h
}
