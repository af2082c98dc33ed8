package samples

var copilot = []Sample{
	{
		Operation: "copilot", By: Engineer,
		Defaults: Values{"proxy": "chat"},
		Query:    "model=small",
		Body:     `{"message":"Why did line 3 stop?"}`,
		Weight:   1,
	},
}
