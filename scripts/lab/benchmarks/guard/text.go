package main

// introText takes the trials of a row, and Alpha and Beta in percent.
const introText = `%d trials a row. A cell has the percentage of trials that a rule halted, the percentage that it promoted, and after @ when the median halt was. The other trials were held for people to decide. The guard may halt at most %g percent of the acceptable releases, and promote at most %g percent of the intolerable ones. With 100,000 trials, a share of 1 percent is measured to within 0.1 points.

The rules beside the guard's:

- AWS IoT Jobs cancels a job if a least number of things has executed it and the share of failures exceeds a threshold (AWS IoT API Reference, AbortCriteria: thresholdPercentage, minNumberOfExecutedThings). Here the share is that of the executions that ended. A job that is not cancelled goes on to everyone.
- hawkBit stops a rollout if the failed share of all targets of a deployment group exceeds the group's error condition. It starts the next group once the finished share reaches its success condition (hawkBit, Rollout Management: Cascading Deployment Group Execution).
- Neither looks at boxes that report nothing. "Over 5 percent silent" shows what a fixed threshold would do about them.

Two rules that were not chosen were measured in the same way, on 22 November 2026. Their code was taken out; the text below has their figures.

`

// failuresText takes the boxes of a stage and the number of plants.
const failuresText = `## Failures

A stage of %d boxes in %d plants. The rules look after every report; @ counts the boxes that were decided by then.

Boxes that are told one by one are decided before the next one is told. For boxes that are told at once, the guard counts the undecided ones as good before it halts. It clears no stage before the first boxes could be overdue: here, before all have reported. The same test without that delay promoted all bad releases whose failures come last, and 5 percent of those whose failures are mixed.

In the last row of a table, a twentieth of the plants fails 20 times as often and the others never. Wald's limits are for independent boxes. In this row the guard halts 1.4 percent of the good releases, and promotes 4 percent of the bad ones.

`

// silenceText takes the number of plants.
const silenceText = `## Silence

%d plants of different sizes, each on or off as a whole. Half a percent of all boxes falls silent by itself. Nothing is reported as failed. A stage soaks for a day and is followed for three. The rules look each minute; @ is the minute. Plants that go off by themselves are off for four hours on average.

The guard started from Wald's limits at the control's upper bound, looked at each minute. At each stage, that rule halted up to 0.8 percent of the good releases where plants go off and on, which is over 1 percent in three stages. It halted 7 percent where the control is small, and all of them at the last stage, where the control is from before the night. It also promoted up to 45 percent of the bad releases in outages. The guard differs from it in three points:

1. A halt also takes Fisher's exact test of the two groups. Its level falls with each look: Alpha/3 · 1/(n(n+1)) at look n of a stage. The levels of all looks of the three stages that have a control sum up to Alpha. Given which boxes are silent, only the hash decided which of them have the release. So the sum bounds the chance of a wrong halt, whatever plants do.
2. At the last stage silence does not halt. It holds.
3. Clearing tests against the control's lower bound, which leaves out 0.25 percent. With 2.5 percent, a bad release in ten was promoted in three days with 30 percent of the plants off. There is no proof that 0.25 percent keeps to Beta whatever plants do, as there is for halts; the table is the evidence.

In a stage of fewer than 73 boxes, the guard promotes when each box is installed and heard of. If a release bricks each box with a chance of 5 percent, 30 boxes are all well in one case of five, and no rule can tell. The next stage finds out.

`
