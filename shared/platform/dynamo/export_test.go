package dynamo

// FormItem is the stored form, for its golden item.
type FormItem = form
