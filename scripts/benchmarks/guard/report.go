package main

import (
	"bufio"
)

func writeReport(out *bufio.Writer, seeds int, results string) error { return nil }
