package child_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prism-ls/prism-ls/tools/child"
)

func TestEnvironment(t *testing.T) {
	gitConfig := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false"}
	for name, test := range map[string]struct {
		parent string // separated by blanks
		extra  map[string]string
		want   string // without gitConfig
	}{
		"inherited": {parent: "PATH=/bin HOME=/h LANG=C LC_ALL=C LC_TIME=C TERM=xterm TMPDIR=/t USER=u",
			want: "HOME=/h LANG=C LC_ALL=C LC_TIME=C PATH=/bin TERM=xterm TMPDIR=/t USER=u"},
		"caches": {parent: "GOPATH=/g GOCACHE=/c GOMODCACHE=/m CARGO_HOME=/r npm_config_cache=/n VIRTUAL_ENV=/v XDG_CACHE_HOME=/x",
			want: "CARGO_HOME=/r GOCACHE=/c GOMODCACHE=/m GOPATH=/g VIRTUAL_ENV=/v XDG_CACHE_HOME=/x npm_config_cache=/n"},
		"network": {parent: "HTTPS_PROXY=http://p:3128 no_proxy=local NO_PROXY=a,b SSL_CERT_FILE=/c SSL_CERT_DIR=/d NODE_EXTRA_CA_CERTS=/e GOPROXY=direct GOPRIVATE=x.org",
			want: "GOPRIVATE=x.org GOPROXY=direct HTTPS_PROXY=http://p:3128 NODE_EXTRA_CA_CERTS=/e NO_PROXY=a,b SSL_CERT_DIR=/d SSL_CERT_FILE=/c no_proxy=local"},
		"credentials": {parent: "http_proxy=http://u:p@h:1/ HTTPS_PROXY=u:p@h:2 ALL_PROXY=socks5://u:p,q@h:3 FTP_PROXY=http://u:%zz@h:4 GOPROXY=https://u:p@h/x,https://o|direct",
			want: "ALL_PROXY=socks5://h:3 FTP_PROXY=http://h:4 GOPROXY=https://h/x,https://o|direct HTTPS_PROXY=h:2 http_proxy=http://h:1/"},
		"other names": {parent: "FOO=1 EDITOR=vi SHELL=/bin/sh LS_COLORS=x DISPLAY=:0 =x novalue"},
		"never": {parent: "GITHUB_TOKEN=1 AWS_SECRET_ACCESS_KEY=1 LC_API_KEY=1 XDG_TOKEN=1 xdg_password=1 XDG_PASSWORD_FILE=1 GIT_DIR=/x LD_PRELOAD=x LD_LIBRARY_PATH=y " +
			"NODE_OPTIONS=--require PYTHONPATH=/p PYTHONSTARTUP=x BASH_ENV=/b GOFLAGS=-mod=mod SSH_AUTH_SOCK=/s"},
		"explicit": {parent: "PATH=/bin", extra: map[string]string{"PATH": "/own", "GITHUB_TOKEN": "t", "GOFLAGS": "-v", "SSH_AUTH_SOCK": "/s", "PYTHONPATH": "p"},
			want: "GITHUB_TOKEN=t GOFLAGS=-v PATH=/own PYTHONPATH=p SSH_AUTH_SOCK=/s"},
		"refused": {parent: "PATH=/bin", extra: map[string]string{"LD_PRELOAD": "x", "ld_audit": "x", "BASH_ENV": "x", "": "x", "A=B": "x", "N": "a\x00b"},
			want: "PATH=/bin"},
		"explicit proxy keeps its credentials": {extra: map[string]string{"HTTPS_PROXY": "http://u:p@h"}, want: "HTTPS_PROXY=http://u:p@h"},
	} {
		t.Run(name, func(t *testing.T) {
			got := child.Environment(strings.Split(test.parent, " "), test.extra)
			var rest []string
			for _, entry := range got {
				if !strings.HasPrefix(entry, "GIT_CONFIG_") {
					rest = append(rest, entry)
				}
			}
			if diff := cmp.Diff(strings.Fields(test.want), rest, cmp.Transformer("join", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(strings.Join(got, "\n"), strings.Join(gitConfig, "\n")) {
				t.Errorf("no git setting in %q", got)
			}
		})
	}
}

func TestEnvironmentKeepsGivenGitConfig(t *testing.T) {
	got := child.Environment(nil, map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "N",
	})
	want := []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_KEY_1=core.fsmonitor",
		"GIT_CONFIG_VALUE_0=N", "GIT_CONFIG_VALUE_1=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedNamesAreTold(t *testing.T) {
	got := child.Refused(map[string]string{"LD_PRELOAD": "x", "BASH_ENV": "y", "FINE": "z"})
	if diff := cmp.Diff([]string{"BASH_ENV", "LD_PRELOAD"}, got); diff != "" {
		t.Error(diff)
	}
}
