package mcpserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-ls/prism-ls/tools"
)

// sealTime is how long a client may take to come back with an answer.
const sealTime = 10 * time.Minute

// answerKey names the one question of a round.
const answerKey = "answer"

// seals makes and checks the state that travels through the client between the
// rounds of a call. It is authenticated (HMAC-SHA-256, RFC 2104, with a key of
// this process), bound to the exact call, and good once: a client cannot turn
// a consent to one action into one to another, nor use it twice.
type seals struct {
	key [32]byte

	mu      sync.Mutex
	waiting map[string]time.Time // nonces given out and not yet used
}

// sealed is what travels.
type sealed struct {
	Nonce   string                       `json:"nonce"`
	Call    string                       `json:"call"`
	Asked   string                       `json:"asked"`
	Answers map[string]*mcp.ElicitResult `json:"answers,omitempty"`
}

// maxOpen is how many calls may wait for an answer at once; the oldest goes.
const maxOpen = 1000

func newSeals() *seals {
	s := &seals{waiting: map[string]time.Time{}}
	_, _ = rand.Read(s.key[:]) // never fails (crypto/rand)
	return s
}

// ask is the result that puts a question to the client.
func (s *seals) ask(request *mcp.CallToolRequest, asked *question) (*mcp.CallToolResult, error) {
	state := sealed{Nonce: s.issue(), Call: callDigest(request), Asked: asked.key, Answers: asked.past}
	text, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{answerKey: asked.form},
		RequestState:  encode(text) + "." + encode(s.sign(text)),
	}, nil
}

// open returns the answers that the request brings: those of earlier rounds,
// and the one to the last question where the client sent one.
func (s *seals) open(request *mcp.CallToolRequest) (map[string]*mcp.ElicitResult, error) {
	refused := tools.Errorf(tools.CodeExecutionDenied, "requestState is not one that was given for this call, or was used, or is older than %s; make the call anew without it", sealTime)
	body, mac, _ := strings.Cut(request.Params.RequestState, ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return nil, refused
	}
	sum, err := base64.RawURLEncoding.DecodeString(mac)
	if err != nil || !hmac.Equal(sum, s.sign(text)) {
		return nil, refused
	}
	var state sealed
	if json.Unmarshal(text, &state) != nil || state.Call != callDigest(request) || !s.use(state.Nonce) {
		return nil, refused
	}
	answers := state.Answers
	if answers == nil {
		answers = map[string]*mcp.ElicitResult{}
	}
	if answer, ok := request.Params.InputResponses[answerKey].(*mcp.ElicitResult); ok {
		answers[state.Asked] = answer
	}
	return answers, nil
}

func (s *seals) sign(text []byte) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(text)
	return mac.Sum(nil)
}

func (s *seals) issue() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, when := "", time.Now()
	for nonce, given := range s.waiting {
		if time.Since(given) > sealTime {
			delete(s.waiting, nonce)
		} else if given.Before(when) {
			oldest, when = nonce, given
		}
	}
	if len(s.waiting) >= maxOpen {
		delete(s.waiting, oldest)
	}
	nonce := rand.Text()
	s.waiting[nonce] = time.Now()
	return nonce
}

// use takes a nonce out of circulation; false means that it was not in it.
func (s *seals) use(nonce string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	given, ok := s.waiting[nonce]
	delete(s.waiting, nonce)
	return ok && time.Since(given) <= sealTime
}

func callDigest(request *mcp.CallToolRequest) string {
	return digest(request.Params.Name, string(request.Params.Arguments))
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
