package policy

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

func TestConsentIsForOneExactActionAndOneUse(t *testing.T) {
	consents := NewConsents(filepath.Join(t.TempDir(), "consents"))
	action := shellAction("make deploy", false)
	if taken, err := consents.Take(t.Context(), action.Digest()); taken || err != nil {
		t.Fatalf("taken before any offer: %v %v", taken, err)
	}
	id, err := consents.Offer(t.Context(), action, "it reaches out")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := consents.Offer(t.Context(), action, "it reaches out"); err != nil || again != id {
		t.Errorf("a second offer: %q %v", again, err)
	}
	if taken, _ := consents.Take(t.Context(), action.Digest()); taken {
		t.Error("taken before it was approved")
	}
	if _, err := consents.Approve("0123456789ab"); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("an unknown ID: %v", err)
	}
	if offer, err := consents.Approve(id); err != nil || offer.Action.Command != "make deploy" {
		t.Fatalf("%+v %v", offer, err)
	}
	other := shellAction("make deploy ", false)
	if taken, _ := consents.Take(t.Context(), other.Digest()); taken {
		t.Error("another action took the consent")
	}
	var winners atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if taken, _ := consents.Take(t.Context(), action.Digest()); taken {
				winners.Add(1)
			}
		})
	}
	wait.Wait()
	if winners.Load() != 1 {
		t.Errorf("%d calls used one consent", winners.Load())
	}
}

func TestConsentExpires(t *testing.T) {
	dir := t.TempDir()
	consents := NewConsents(dir)
	action := shellAction("make", false)
	id, err := consents.Offer(t.Context(), action, "")
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * consentTime)
	if err := os.Chtimes(filepath.Join(dir, action.Digest()+".offer"), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := consents.Approve(id); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("an old offer: %v", err)
	}
}

func TestTrust(t *testing.T) {
	trust := NewTrust(filepath.Join(t.TempDir(), "trust"))
	if trust.Trusted("/a") {
		t.Error("trusted by default")
	}
	if err := trust.Set("/a", true); err != nil {
		t.Fatal(err)
	}
	if !trust.Trusted("/a") || trust.Trusted("/a/b") {
		t.Error("trust is for the exact root")
	}
	for range 2 {
		if err := trust.Set("/a", false); err != nil {
			t.Fatal(err)
		}
	}
	if trust.Trusted("/a") {
		t.Error("trust was not taken back")
	}
}
