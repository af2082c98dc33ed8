package report

// Same reports whether two rows are the same in every field.
func Same(a, b Row) bool {
	offers := (a.Offer == nil) == (b.Offer == nil) && (a.Offer == nil || a.Offer.Since.Equal(b.Offer.Since))
	facts := a.EdgeID == b.EdgeID && a.EdgeType == b.EdgeType && a.Channel == b.Channel && a.FactoryID == b.FactoryID && a.OrganizationID == b.OrganizationID &&
		a.EdgeAt.Equal(b.EdgeAt) && a.Retired == b.Retired && a.Revision == b.Revision
	return same(a, b) && offers && facts
}
