// Package raced makes properties run few cases under the race detector, in the test of a package that imports it: each case
// contains everything that the detector looks for, and takes ten times as long. The number is set here and not by a flag of
// the command, so that Go caches the result.
package raced
