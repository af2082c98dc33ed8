package main

import (
	"fmt"
	"io"
	"math"
)

const (
	// A release is a file of so many GB, and there are so many a year.
	releaseGB, releasesAYear = 0.1, 12.0
	// plantBoxes is how many boxes a plant cache serves; it downloads a release once.
	plantBoxes = 50.0
	// freeGB is what CloudFront gives each account a month without a charge.
	freeGB = 1000.0
)

// The prices of a GB from CloudFront's edges in Europe, beyond so many GB a month.
var edgeTiers = []struct{ GB, Price float64 }{{10_000, edgeGB}, {40_000, 0.080}, {100_000, 0.060}, {350_000, 0.040}, {math.Inf(1), 0.030}}

// tieredGB is the price of so many GB a month.
func tieredGB(gb float64) (sum float64) {
	for _, t := range edgeTiers {
		some := min(gb, t.GB)
		sum, gb = sum+some*t.Price, gb-some
	}
	return sum
}

// downloads is the list price of a release for so many boxes: of its bytes, and of one request each.
func downloads(boxes float64) float64 { return boxes * (releaseGB*edgeGB + edgeCalls/1e6) }

// writeDownloads writes the table of what boxes cost that download a release a month from the service's own store.
func writeDownloads(w io.Writer) {
	sizes := []float64{1000, 10_000, 100_000, 1_000_000}
	row := func(name, formula string, of func(boxes float64) string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, boxes := range sizes {
			fmt.Fprintf(w, " %s |", of(boxes))
		}
		fmt.Fprintf(w, " %s |\n", formula)
	}
	dollars := func(of func(boxes float64) float64) func(float64) string {
		return func(boxes float64) string { return thousands(of(boxes)) }
	}
	year := func(share float64) func(float64) string {
		return func(boxes float64) string { return fmt.Sprintf("%.3f", share*releasesAYear*downloads(boxes)/boxes) }
	}
	row("USD for a release, which all boxes download within a month", "Formula", thousands)
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|---|")
	row("GB", fmt.Sprintf("boxes × %g", releaseGB), dollars(func(boxes float64) float64 { return boxes * releaseGB }))
	row("downloads", fmt.Sprintf("GB × %.3f", edgeGB), dollars(func(boxes float64) float64 { return boxes * releaseGB * edgeGB }))
	row("requests", fmt.Sprintf("boxes × %.2f a million", edgeCalls), dollars(func(boxes float64) float64 { return boxes * edgeCalls / 1e6 }))
	row("storage of the last twelve", fmt.Sprintf("%g GB × %.4f", releaseGB*releasesAYear, objectGB), dollars(func(float64) float64 { return releaseGB * releasesAYear * objectGB }))
	row("**sum**", "", func(boxes float64) string {
		return "**" + thousands(downloads(boxes)+releaseGB*releasesAYear*objectGB) + "**"
	})
	row("less by CloudFront's volume prices", "see below", dollars(func(boxes float64) float64 { return boxes*releaseGB*edgeGB - tieredGB(boxes*releaseGB) }))
	row("less by CloudFront's free terabyte", fmt.Sprintf("at most %g GB × %.3f", freeGB, edgeGB), dollars(func(boxes float64) float64 { return min(boxes*releaseGB, freeGB) * edgeGB }))
	row("a box, a year", fmt.Sprintf("%g × (downloads + requests) / boxes", releasesAYear), year(1))
	row("the same behind a plant cache", fmt.Sprintf("a %gth: one download for %g boxes", plantBoxes, plantBoxes), year(1/plantBoxes))
}
