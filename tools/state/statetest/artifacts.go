package statetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

func put(t testing.TB, store state.ArtifactStore, content []byte) state.Artifact {
	t.Helper()
	artifact, err := store.Put(ctx(t), ann("").Owner, bytes.NewReader(content))
	must(t, "putting", err)
	return artifact
}

func content(t testing.TB, store state.ArtifactStore, sum string) []byte {
	t.Helper()
	r, err := store.Open(ctx(t), ann("").Owner, sum)
	must(t, "opening", err)
	got, err := io.ReadAll(r)
	must(t, "reading", err)
	must(t, "closing", r.Close())
	return got
}

// noise is the same for the same size.
func noise(size int) []byte {
	seed := [32]byte{byte(size), byte(size >> 8), byte(size >> 16)}
	data := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(data)
	return data
}

func artifacts(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Artifacts(), ann("").Owner
	for _, size := range []int{0, 1, 4096, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1 << 20, 3<<20 + 7} {
		data := noise(size)
		artifact := put(t, store, data)
		sum := sha256.Sum256(data)
		if artifact.SHA256 != hex.EncodeToString(sum[:]) || artifact.Bytes != int64(size) || artifact.Owner != owner {
			t.Errorf("%d bytes are %+v", size, artifact)
		}
		if got := content(t, store, artifact.SHA256); !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as other %d", size, len(got))
		}
		again, err := store.Put(ctx(t), owner, iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(data))))
		if err != nil || again.SHA256 != artifact.SHA256 || !again.Saved.Equal(artifact.Saved) {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		stat, err := store.Stat(ctx(t), owner, artifact.SHA256)
		if err != nil || stat.Bytes != artifact.Bytes || stat.SHA256 != artifact.SHA256 || !stat.Saved.Equal(artifact.Saved) {
			t.Errorf("%+v, %v", stat, err)
		}
	}
	// What cannot be read is not kept.
	broken := errors.New("broken")
	for _, before := range []int{0, 10, 1 << 20} {
		_, err := store.Put(ctx(t), owner, io.MultiReader(bytes.NewReader(noise(before)), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("a reader that breaks after %d: %v", before, err)
		}
	}
	page, err := store.List(ctx(t), owner, "", 0)
	if err != nil || len(page.Artifacts) != 8 {
		t.Errorf("%d artifacts, %v", len(page.Artifacts), err)
	}
	missing := strings.Repeat("0", 64)
	_, err = store.Open(ctx(t), owner, missing)
	want(t, "what is not there", err, tools.CodeNotFound)
	_, err = store.Stat(ctx(t), owner, missing)
	want(t, "what is not there", err, tools.CodeNotFound)
	want(t, "what is not there", store.Delete(ctx(t), owner, missing), tools.CodeNotFound)
	for _, sum := range []string{"", "../x", strings.Repeat("0", 63), strings.Repeat("F", 64)} {
		_, err = store.Open(ctx(t), owner, sum)
		want(t, "the name "+sum, err, tools.CodeToolInput)
	}
	gone := page.Artifacts[0].SHA256
	must(t, "deleting", store.Delete(ctx(t), owner, gone))
	_, err = store.Open(ctx(t), owner, gone)
	want(t, "what was deleted", err, tools.CodeNotFound)
}

func artifactOwners(t *testing.T, s *Suite) {
	store, other := s.freshStores(t).Artifacts(), bob("").Owner
	data := noise(300 << 10)
	mine := put(t, store, data)
	_, err := store.Open(ctx(t), other, mine.SHA256)
	want(t, "another owner's", err, tools.CodeNotFound)
	want(t, "deleting another owner's", store.Delete(ctx(t), other, mine.SHA256), tools.CodeNotFound)
	page, err := store.List(ctx(t), other, "", 0)
	if err != nil || len(page.Artifacts) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	_, err = store.Put(ctx(t), other, bytes.NewReader(data))
	must(t, "the same content of another owner", err)
	must(t, "deleting one's own", store.Delete(ctx(t), other, mine.SHA256))
	if got := content(t, store, mine.SHA256); !bytes.Equal(got, data) {
		t.Error("it went with another owner's")
	}
}

func artifactLimits(t *testing.T, s *Suite) {
	const most = 1 << 20
	stores, err := s.Stores(s.New(t), state.Limits{ArtifactBytes: most})
	must(t, "opening", err)
	closeAfter(t, stores)
	store, owner := stores.Artifacts(), ann("").Owner
	for _, size := range []int64{most + 1, 3 * most} {
		_, err = store.Put(ctx(t), owner, io.LimitReader(zeros{}, size))
		want(t, "more than may be", err, tools.CodeStateLimit)
	}
	page, err := store.List(ctx(t), owner, "", 0)
	if err != nil || len(page.Artifacts) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	if artifact, err := store.Put(ctx(t), owner, io.LimitReader(zeros{}, most)); err != nil || artifact.Bytes != most {
		t.Errorf("as much as may be: %+v, %v", artifact, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func artifactLists(t *testing.T, s *Suite) {
	store, owner := s.freshStores(t).Artifacts(), ann("").Owner
	const count = 7
	for i := range count {
		put(t, store, []byte(fmt.Sprint("artifact ", i)))
	}
	for _, limit := range []int64{1, 3, 7, 0} {
		seen := map[string]bool{}
		for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
			page, err := store.List(ctx(t), owner, cursor, limit)
			if err != nil || pages > count || limit > 0 && int64(len(page.Artifacts)) > limit {
				t.Fatalf("limit %d: %+v, %v", limit, page, err)
			}
			for _, artifact := range page.Artifacts {
				seen[artifact.SHA256] = true
			}
			cursor = page.Next
		}
		if len(seen) != count {
			t.Errorf("limit %d: %d artifacts", limit, len(seen))
		}
	}
}
