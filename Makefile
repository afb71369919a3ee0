# `make help` lists the targets. Each sets up by itself what it needs.

GO       ?= go
CACHE    := $(CURDIR)/.cache
GOTEST   := $(CACHE)/bin/gotest
PKGS     := ./... ./testdata/cmd/...
RUN      ?= .
BENCH    ?= .
# Every Go file of a package, for whichever platform.
FILES    := {{$$d := .Dir}}{{range .GoFiles}}{{$$d}}/{{.}} {{end}}{{range .IgnoredGoFiles}}{{$$d}}/{{.}} {{end}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}
# What tests must leave as it is: the configuration of this repository, and the person's.
CONFIGS  := cksum "$$(git rev-parse --git-path config 2>/dev/null)" "$(HOME)/.gitconfig" 2>/dev/null || true
NPM      := $(CURDIR)/testdata/servers/node_modules

# Beside what the tests themselves install; it outlives the checkout.
TREE     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/prism-ls-test/tree

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build run test setup lint cross race bench soak servers docs clean help gotest

build: ## build bin/prism-ls
	$(GO) build -trimpath -o bin/prism-ls ./cmd/prism-ls

run: ## show the whole loop on a scratch clone of this repository
	$(GO) run ./cmd/prism-ls demo

test: setup build lint cross race ## everything that has to hold: format, analysis, other platforms, all tests

setup: ## install the pinned components that the tests run against
	@testdata/servers/install.sh

lint: ## gofmt, go vet, staticcheck
	@echo gofmt; wrong=$$($(GO) list -f '$(FILES)' $(PKGS) | xargs -r gofmt -l) || exit 1; \
		if [ -n "$$wrong" ]; then echo "not formatted, gofmt -w does it:"; echo "$$wrong"; exit 1; fi
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)

cross: ## compile for the other platforms
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build ./...

# The real language servers have the machine to themselves: some other tests are
# about how soon something happens.
race: gotest setup ## all tests under the race detector; RUN=regexp chooses
	@{ $(CONFIGS); } >$(CACHE)/configs
	$(GOTEST) test -race -timeout 25m -run '$(RUN)' $(filter-out %/langintel,$(shell $(GO) list $(PKGS)))
	$(GOTEST) test -race -timeout 30m -run '$(RUN)' ./langintel
	@{ $(CONFIGS); } | cmp - $(CACHE)/configs || { echo "the tests have changed a git configuration of yours"; exit 1; }

bench: gotest setup ## measure ours beside the peers, write docs/performance.md; BENCH=regexp chooses, and then only prints
	@testdata/servers/tree.sh $(TREE)
	PRISM_BENCH_RG=$(NPM)/@vscode/ripgrep-linux-x64/bin/rg PRISM_BENCH_TREE=$(TREE) \
		$(GOTEST) bench $(if $(filter .,$(BENCH)),-write docs/performance.md) -bench '$(BENCH)' -timeout 60m ./...

soak: gotest setup ## the tests at full size, write docs/reliability.md; RUN=regexp chooses, and then only prints
	PRISM_SOAK=1 $(GOTEST) soak $(if $(filter .,$(RUN)),-write docs/reliability.md) -timeout 120m -run '$(RUN)' ./...

servers: ## install every server that prism-ls can install, and ask each one question; RUN=NAME does one
	PRISM_SERVERS=$(if $(filter .,$(RUN)),1,$(RUN)) $(GO) test ./cmd/prism-ls -run TestServersInstall -v -timeout 60m

docs: ## write the pages that are made from the code
	@mkdir -p docs
	$(GO) test ./cmd/prism-ls -run GeneratedDocs -update

clean: ## remove what was built and installed here
	rm -rf bin .cache testdata/servers/node_modules testdata/servers/language/node_modules

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

gotest:
	@$(GO) build -o $(GOTEST) ./testdata/cmd/gotest
