package content

import "wavegate/shared/platform/input"

// Body is the body of a content. Read checks the rules that involve several fields.
var Body = &input.Shape{Fields: input.Fields{
	{Name: "form", Is: formRule, Required: true},
	{Name: "basis", Is: amount, Required: true},
	{Name: "steps", Is: &input.List{Of: stepBody, Most: maxSteps}, Required: true},
	{Name: "attributes", Is: attributes},
}}

var stepBody = &input.Shape{Fields: input.Fields{
	{Name: "id", Is: input.Name, Required: true},
	{Name: "name", Is: nameRule, Required: true},
	{Name: "equipment", Is: &input.Shape{Fields: input.Fields{
		{Name: "class", Is: input.Name},
		{Name: "machines", Is: someMachines},
	}}},
	{Name: "setup", Is: durationRule},
	{Name: "run", Is: &input.Shape{Fields: input.Fields{
		{Name: "time", Is: durationRule, Required: true},
		{Name: "per", Is: amount, Required: true},
	}}},
	{Name: "parameters", Is: &input.List{Of: parameterBody, Most: maxParameters}},
	{Name: "inputs", Is: &input.List{Of: materialBody, Most: maxInputs}},
	{Name: "outputs", Is: &input.List{Of: materialBody, Most: maxOutputs}},
	{Name: "checks", Is: &input.List{Of: checkBody, Most: maxChecks}},
	{Name: "instructions", Is: instructionsRule},
	{Name: "documents", Is: &input.List{Of: documentBody, Most: maxDocuments}},
	{Name: "attributes", Is: attributes},
}}

var parameterBody = &input.Shape{Fields: input.Fields{
	{Name: "id", Is: input.Name, Required: true},
	{Name: "name", Is: nameRule},
	{Name: "target", Is: input.Number{}},
	{Name: "min", Is: input.Number{}},
	{Name: "max", Is: input.Number{}},
	{Name: "unit", Is: unitRule},
	{Name: "text", Is: nameRule},
	{Name: "critical", Is: input.Boolean{}},
	{Name: "overrides", Is: &input.List{Least: 1, Most: maxMachines, Of: &input.Shape{Fields: input.Fields{
		{Name: "machine", Is: input.Name, Required: true},
		{Name: "target", Is: input.Number{}},
		{Name: "text", Is: nameRule},
	}}}},
}}

var materialBody = &input.Shape{Fields: input.Fields{
	{Name: "material", Is: wordRule, Required: true},
	{Name: "quantity", Is: input.Number{}, Required: true},
	{Name: "unit", Is: unitRule, Required: true},
	{Name: "lotTracked", Is: input.Boolean{}},
}}

var checkBody = &input.Shape{Fields: input.Fields{
	{Name: "id", Is: input.Name, Required: true},
	{Name: "name", Is: nameRule, Required: true},
	{Name: "target", Is: input.Number{}},
	{Name: "min", Is: input.Number{}},
	{Name: "max", Is: input.Number{}},
	{Name: "unit", Is: unitRule},
	{Name: "accept", Is: nameRule},
	{Name: "every", Is: amount},
	{Name: "standard", Is: wordRule},
	{Name: "critical", Is: input.Boolean{}},
}}

var documentBody = &input.Shape{Fields: input.Fields{
	{Name: "title", Is: nameRule, Required: true},
	{Name: "url", Is: input.HTTPSURL, Required: true},
	{Name: "sha256", Is: digestRule, Required: true},
	{Name: "machines", Is: someMachines},
}}

// amount is a positive quantity of a unit.
var amount = &input.Shape{Fields: input.Fields{
	{Name: "quantity", Is: input.Number{}, Required: true},
	{Name: "unit", Is: unitRule, Required: true},
}}

var someMachines = &input.List{Of: input.Name, Least: 1, Most: maxMachines}

// attributes holds texts that the service does not interpret.
var attributes = &input.Shape{Names: input.Name, Texts: attributeRule, Most: maxAttributes}
