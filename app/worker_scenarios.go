package app

import (
	"github.com/botix-pro/platform/app/scenarios"
	"github.com/botix-pro/platform/app/store"
	"github.com/botix-pro/platform/internal/egress"
)

// newScenarioEngine brings runs of scenarios forward.
func newScenarioEngine(b *base, guard *egress.Guard, hint func([]store.Lane)) *scenarios.Engine {
	return scenarios.NewEngine(scenarios.Config{
		Store: b.store, Transport: guard.Transport(egress.TransportConfig{}), UserAgent: "BOTIX-Scenarios/" + b.cfg.Version,
		Rewrite: guard.Rewrite, Hint: hint, Clock: b.clock, Log: b.log,
	})
}
