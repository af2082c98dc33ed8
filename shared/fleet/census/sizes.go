package census

import (
	"context"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/platform/dynamo"
)

// sizes are those of the stages in a census.
func (c *Census) sizes() bell.Sizes { return sizesOf(c.Stages) }

func sizesOf(stages []StageCounts) bell.Sizes {
	sizes := bell.Sizes{}
	for _, s := range stages {
		sizes[s.Percent] = s.Expected
	}
	return sizes
}

// CountedSizes reads the sizes of rollouts' stages from the last counts of ticks.
type CountedSizes struct{ db *dynamo.DB }

// NewCountedSizes makes CountedSizes.
func NewCountedSizes(db *dynamo.DB) CountedSizes { return CountedSizes{db} }

// Of returns how many boxes each stage of a rollout has; nil if it has not been counted. The read is eventually
// consistent, and costs half as much as a consistent one.
func (s CountedSizes) Of(ctx context.Context, rolloutID string) (bell.Sizes, error) {
	var h struct {
		Answer *struct {
			Stages []StageCounts `json:"stages"`
		} `json:"answer"`
	}
	_, err := s.db.GetEventually(ctx, dynamo.Progress, dynamo.Key{"subject": rolloutID, "part": partLatest}, &h)
	if err != nil || h.Answer == nil {
		return nil, err
	}
	return sizesOf(h.Answer.Stages), nil
}
