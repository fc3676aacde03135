# The project's chores; "make" alone lists them. They need Go and git, and
# bring whatever else they use: servers, linters and generators are never
# installed by hand.

.DEFAULT_GOAL := help

GO        ?= go
PKG       ?= ./...
TESTFLAGS ?=
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -X main.version=$(VERSION)
TOOL      := $(GO) tool -modfile=tools/go.mod
# Files that git knows or would add: nothing built or downloaded is looked at.
GOFILES    = git ls-files --cached --others --exclude-standard -- '*.go'
GOFMT      = "$$($(GO) env GOROOT)/bin/gofmt"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: need-go ## Run everything locally; data in .botix/
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/botix ./cmd/botix
	@exec bin/botix dev

.PHONY: build
build: need-go ## Build bin/server, bin/worker and bin/botix
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/server ./cmd/server
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/worker ./cmd/worker
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/botix ./cmd/botix

.PHONY: test
test: need-go ## Run all tests with the race detector (PKG=./app/store TESTFLAGS='-run X -v')
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	bin/testenv -browser -languages -- $(GO) test -race -timeout 20m $(TESTFLAGS) $(PKG)

.PHONY: screenshots
screenshots: need-go ## Take the pictures in docs/screenshots anew
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	rm -rf docs/screenshots
	BOTIX_SCREENSHOTS=$(CURDIR)/docs/screenshots BOTIX_SCREENSHOTS_OF='-(en-1440-light|ru-360-dark)$$' \
		bin/testenv -browser -- $(GO) test -count=1 -timeout 15m -run 'Browser' ./web/...

.PHONY: test-fault
test-fault: need-go ## Kill, freeze and cut off what it stands on (minutes)
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	bin/testenv -- $(GO) test -tags fault -count=1 -timeout 30m -v $(TESTFLAGS) ./test/fault

.PHONY: bench
bench: need-go ## Measure against the bare thing, as ratios (alone on the machine)
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	bin/testenv -- $(GO) test -tags bench -count=1 -timeout 30m -v -skip 'TestPages$$' $(TESTFLAGS) ./test/load

.PHONY: bench-pages
bench-pages: need-go ## Measure the pages over 5 million attempts (10 GB of disk)
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	bin/testenv -- $(GO) test -tags bench -count=1 -timeout 30m -v -run 'TestPages$$' $(TESTFLAGS) ./test/load

.PHONY: soak
soak: need-go ## Look for leaks in a worker under load (SOAK_MINUTES=10)
	$(GO) build -o bin/testenv ./internal/testenv/cmd
	bin/testenv -- $(GO) test -tags 'bench soak' -count=1 -timeout 25h -v -run 'TestSoak$$' ./test/load

.PHONY: lint
lint: need-go ## Check formatting, go vet and golangci-lint
	@unformatted=$$($(GOFILES) | xargs $(GOFMT) -l) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) golangci-lint run --allow-parallel-runners ./...

.PHONY: lint-api
lint-api: ## Check api/openapi.yaml with Redocly and Spectral (installs Node.js where it may)
	@scripts/lint-api.sh

.PHONY: verify-npm
verify-npm: need-go ## Have the npm library of Standard Webhooks verify a delivery (Node.js)
	@scripts/verify-npm.sh

.PHONY: fmt
fmt: need-go ## Format the Go code
	$(GOFILES) | xargs $(GOFMT) -w

.PHONY: generate
generate: need-go ## Write generated code anew
	$(GO) generate ./...

.PHONY: verify
verify: need-go ## Check that modules are tidy and generated code is up to date
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	scripts/verify-generated.sh '$(MAKE)'

.PHONY: clean
clean: ## Remove built programs (the data in .botix/ stay)
	rm -rf bin

.PHONY: need-go
need-go:
	@command -v $(GO) >/dev/null || { echo "Go is needed: https://go.dev/doc/install" >&2; exit 1; }
