package main

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"wavegate/shared/access/token"
	"wavegate/shared/copilot"
	"wavegate/shared/operations/boxes"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/setting"
	"wavegate/shared/ratelimit"
)

// named are the settings of all functions.
func named() []setting.Name {
	all := slices.Concat(slices.Collect(maps.Keys(setting.Ranges)), boxes.BellSettings)
	for _, op := range table.All {
		all = append(all, op.Settings...)
	}
	for _, task := range table.Tasks {
		all = append(all, task.Settings...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// others are variables that are passed on to the functions beside their settings.
var others = []string{token.Setting, "AWS_LAMBDA_LOG_LEVEL", "STAGE"}

// own are settings that the local service gives to the functions itself.
var own = []setting.Name{setting.CORSOrigins, setting.FleetIssuers, setting.LoginOrigin, setting.ArtifactStoreURL, setting.ArtifactURL}

// settings picks the variables that are settings of functions.
func settings(environment []string) []string {
	var picked []string
	all := named()
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(others, name) || slices.Contains(all, setting.Name(name)) && !slices.Contains(own, setting.Name(name)) {
			picked = append(picked, variable)
		}
	}
	return picked
}

// check finds what would keep a function from its start: otherwise the service says that it is ready, and each call fails.
func check() error {
	values := setting.NewValues(named()...)
	for _, name := range slices.Sorted(maps.Keys(setting.Ranges)) {
		values.Number(name)
	}
	if err := values.Err(); err != nil {
		return err
	}
	ratelimit.ReadSettings(values) // compares the limits with each other
	copilot.ReadSettings(values)
	var issuers error
	if text := os.Getenv(token.Setting); text != "" {
		_, issuers = token.ParseIssuers(text)
	}
	return errors.Join(values.Err(), issuers)
}
