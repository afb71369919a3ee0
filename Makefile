# `make help` lists the targets. Each sets up by itself what it needs.

GO       ?= go
CACHE    := $(CURDIR)/.cache
GOTEST   := $(CACHE)/bin/gotest
GOPLS    := v0.23.0
PKGS     := ./... ./testdata/cmd/...
RUN      ?= .
BENCH    ?= .
# Every Go file of a package, for whichever platform.
FILES    := {{$$d := .Dir}}{{range .GoFiles}}{{$$d}}/{{.}} {{end}}{{range .IgnoredGoFiles}}{{$$d}}/{{.}} {{end}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}
NPM      := $(CURDIR)/testdata/servers/node_modules

# The pinned gopls and ripgrep are found before any other.
export PATH := $(CACHE)/bin:$(NPM)/@vscode/ripgrep-linux-x64/bin:$(PATH)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build run test setup lint cross race bench soak docs docs-current clean help gotest

build: ## build bin/prism-ls
	$(GO) build -trimpath -o bin/prism-ls ./cmd/prism-ls

run: ## show the whole loop on a scratch clone of this repository
	$(GO) run ./cmd/prism-ls demo

test: setup build docs-current lint cross race ## everything that has to hold: format, analysis, other platforms, all tests

setup: ## install the pinned components that the tests run against
	@testdata/servers/install.sh $(GOPLS)

lint: ## gofmt, go vet, staticcheck
	@echo gofmt; wrong=$$($(GO) list -f '$(FILES)' $(PKGS) | xargs -r gofmt -l) || exit 1; \
		if [ -n "$$wrong" ]; then echo "not formatted, gofmt -w does it:"; echo "$$wrong"; exit 1; fi
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)

cross: ## compile for the other platforms
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build ./...

race: gotest setup ## all tests under the race detector; RUN=regexp chooses
	$(GOTEST) test -race -timeout 15m -run '$(RUN)' $(PKGS)

bench: gotest ## measure ours beside the peers, write docs/performance.md; BENCH=regexp chooses, and then only prints
	@testdata/servers/install.sh $(GOPLS)
	@testdata/servers/tree.sh
	PRISM_BENCH_RG=$(NPM)/@vscode/ripgrep-linux-x64/bin/rg PRISM_BENCH_TREE=$(CACHE)/tree \
		$(GOTEST) bench $(if $(filter .,$(BENCH)),-write docs/performance.md) -bench '$(BENCH)' -timeout 60m ./...

soak: gotest setup ## the tests at full size, write docs/reliability.md; RUN=regexp chooses, and then only prints
	PRISM_SOAK=1 $(GOTEST) soak $(if $(filter .,$(RUN)),-write docs/reliability.md) -timeout 120m -run '$(RUN)' ./...

docs: build ## write the pages that are made from the code
	@mkdir -p docs
	bin/prism-ls docs config >docs/config.md
	bin/prism-ls docs tools >docs/tools.md

docs-current: build
	@for page in config tools; do \
		bin/prism-ls docs $$page | diff docs/$$page.md - >/dev/null || { echo "docs/$$page.md is not what the code says; make docs writes it"; exit 1; }; done

clean: ## remove what was built and installed here
	rm -rf bin .cache testdata/servers/node_modules

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

gotest:
	@$(GO) build -o $(GOTEST) ./testdata/cmd/gotest
