package policy

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// consentTime is how long an offer waits for a person, and how long a consent
// waits to be used.
const consentTime = 15 * time.Minute

// maxOffers is how many offers wait at a time.
const maxOffers = 1000

// Consents keeps approvals given outside of a call as files of one directory:
// "DIGEST.offer" until a person approves, then "DIGEST.consent" until it is
// used. The name is the digest of the exact action, so a consent is good for
// nothing else. It implements tools.Consents.
type Consents struct{ dir string }

// NewConsents keeps consents in dir, which is made (0700) when first needed.
func NewConsents(dir string) *Consents { return &Consents{dir} }

// Offered is an action that waits for a person's word.
type Offered struct {
	ID     string       `json:"id"`
	Reason string       `json:"reason"`
	Action tools.Action `json:"action"`
	Time   time.Time    `json:"time"`
}

// idLength is how much of a digest names an offer: 48 bits tell 1000 offers apart.
const idLength = 12

// Offer records the action and returns its ID. Offering the same action again
// returns the same ID.
func (c *Consents) Offer(_ context.Context, action tools.Action, reason string) (string, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", stateError(err)
	}
	c.sweep()
	digest := action.Digest()
	offer := Offered{ID: digest[:idLength], Reason: reason, Action: action, Time: time.Now()}
	text, err := json.MarshalIndent(offer, "", "  ")
	if err != nil {
		return "", tools.Errorf(tools.CodeInternal, "the offer cannot be encoded: %w", err)
	}
	if waiting, err := filepath.Glob(filepath.Join(c.dir, "*.offer")); err != nil || len(waiting) >= maxOffers {
		return "", tools.Errorf(tools.CodeLimit, "%d actions wait for approval already", len(waiting))
	}
	if err := os.WriteFile(c.file(digest, "offer"), text, 0o600); err != nil {
		return "", stateError(err)
	}
	return offer.ID, nil
}

// List returns the offers that wait.
func (c *Consents) List() ([]Offered, error) {
	c.sweep()
	names, err := filepath.Glob(filepath.Join(c.dir, "*.offer"))
	if err != nil {
		return nil, stateError(err)
	}
	offers := make([]Offered, 0, len(names))
	for _, name := range names {
		var offer Offered
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &offer) != nil {
			continue // gone meanwhile, or not one of ours
		}
		offers = append(offers, offer)
	}
	return offers, nil
}

// Approve turns the offer of that ID into a consent for one use. CodeNotFound
// means that there is no such offer, or that it waited too long.
func (c *Consents) Approve(id string) (Offered, error) {
	offers, err := c.List()
	if err != nil {
		return Offered{}, err
	}
	for _, offer := range offers {
		if offer.ID != id {
			continue
		}
		digest := offer.Action.Digest()
		now := time.Now()
		if err := os.Chtimes(c.file(digest, "offer"), now, now); err != nil {
			return Offered{}, stateError(err)
		}
		if err := os.Rename(c.file(digest, "offer"), c.file(digest, "consent")); err != nil {
			return Offered{}, stateError(err)
		}
		return offer, nil
	}
	return Offered{}, tools.Errorf(tools.CodeNotFound, "no action waits for approval as %q; an offer stands for %s", id, consentTime)
}

// Take uses up the consent for that digest. Of two calls at once, one gets it.
func (c *Consents) Take(_ context.Context, digest string) (bool, error) {
	if strings.ContainsAny(digest, `/\.`) {
		return false, tools.Errorf(tools.CodeInternal, "%q is not a digest", digest)
	}
	c.sweep()
	err := os.Remove(c.file(digest, "consent"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (c *Consents) file(digest, ending string) string {
	return filepath.Join(c.dir, digest+"."+ending)
}

// sweep removes what has waited too long.
func (c *Consents) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > consentTime {
			_ = os.Remove(filepath.Join(c.dir, entry.Name())) // another process may have been quicker
		}
	}
}

func stateError(err error) error {
	return tools.Errorf(tools.CodeStateUnavailable, "the state directory cannot be used: %w", err)
}
