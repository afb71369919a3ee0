# `make help` lists the targets. Each sets up by itself what it needs.

GO       ?= go
CACHE    := $(CURDIR)/.cache
GOTEST   := $(CACHE)/bin/gotest
GOPLS    := v0.23.0
PKGS     := ./... ./testdata/cmd/...
RUN      ?= .
BENCH    ?= .
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)

# The pinned gopls is found before any other.
export PATH := $(CACHE)/bin:$(PATH)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build run test setup lint cross race bench soak docs clean help gotest

build: ## build bin/prism-ls
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/prism-ls ./cmd/prism-ls

run: ## show the whole loop on a scratch clone of this repository
	$(GO) run ./cmd/prism-ls demo

test: setup build lint cross race ## everything that has to hold: format, analysis, other platforms, all tests

setup: ## install the pinned components that the tests run against
	@testdata/servers/install.sh $(GOPLS)

lint: ## gofmt, go vet, staticcheck
	@echo "gofmt"; out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | while read -r f; do [ -f "$$f" ] && echo "$$f"; done)); \
		if [ -n "$$out" ]; then echo "not formatted (gofmt -w fixes it):"; echo "$$out"; exit 1; fi
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)

cross: ## compile for the other platforms
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build ./...

race: gotest setup ## all tests under the race detector; RUN=regexp chooses
	$(GOTEST) test -race -timeout 15m -run '$(RUN)' $(PKGS)

bench: gotest setup ## measure ours beside the peers, write docs/performance.md; BENCH=regexp chooses, and then only prints
	$(GOTEST) bench $(if $(filter .,$(BENCH)),-write docs/performance.md) -bench '$(BENCH)' -timeout 60m ./...

soak: gotest setup ## the tests at full size, write docs/reliability.md; RUN=regexp chooses, and then only prints
	PRISM_SOAK=1 $(GOTEST) soak $(if $(filter .,$(RUN)),-write docs/reliability.md) -timeout 120m -run '$(RUN)' ./...

docs: ## write the generated pages anew
	$(GO) generate ./...

clean: ## remove what was built and installed here
	rm -rf bin .cache testdata/servers/node_modules

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

gotest:
	@$(GO) build -o $(GOTEST) ./testdata/cmd/gotest
