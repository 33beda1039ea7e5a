// Judges dashboards by the types that Grafana generates from its schema: unknown fields, missing ones, wrong types, values out of range.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// judge returns what is wrong with a dashboard, or nothing.
func judge(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var read dashboard.Dashboard
	// Both return an error that is not nil but says nothing where nothing is wrong.
	if err := read.UnmarshalJSONStrict(raw); err != nil && err.Error() != "" {
		return err.Error()
	}
	if err := read.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

func main() {
	plugins.RegisterDefaultPlugins()
	status := 0
	for _, path := range os.Args[1:] {
		if wrong := judge(path); wrong != "" {
			fmt.Printf("%s: %s\n", path, wrong)
			status = 1
		}
	}
	os.Exit(status)
}
