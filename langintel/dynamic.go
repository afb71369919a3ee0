package langintel

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// registrations are the capabilities that a server registered after initialize
// (LSP 3.17 §client_registerCapability).
type registrations struct {
	mu    sync.Mutex
	byID  map[string]registration
	added int64         // how often something was registered
	moved chan struct{} // closed at the next registration; nil until somebody waits
}

// changed returns a channel that the next registration closes.
func (r *registrations) changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moved == nil {
		r.moved = make(chan struct{})
	}
	return r.moved
}

// count grows with each registration.
func (r *registrations) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.added
}

type registration struct {
	method   string
	options  jsontext.Value
	watchers []watched
}

// registrationParams is LSP 3.17 §registrationParams, options left as written.
type registrationParams struct {
	Registrations []struct {
		ID      string         `json:"id"`
		Method  string         `json:"method"`
		Options jsontext.Value `json:"registerOptions"`
	} `json:"registrations"`
}

// unregistrationParams is LSP 3.17 §unregistrationParams, with its misspelling.
type unregistrationParams struct {
	Unregistrations []struct {
		ID string `json:"id"`
	} `json:"unregisterations"`
}

const maxRegistrations = 1000

func (r *registrations) add(params registrationParams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]registration{}
	}
	for _, p := range params.Registrations {
		if len(r.byID) >= maxRegistrations {
			return
		}
		entry := registration{method: p.Method, options: p.Options}
		if p.Method == "workspace/didChangeWatchedFiles" {
			var options watchRegistration
			if decodeJSON(p.Options, &options) == nil {
				entry.watchers = parseWatched(options)
			}
		}
		r.byID[p.ID] = entry
	}
	r.added++
	if r.moved != nil {
		close(r.moved)
		r.moved = nil
	}
}

func (r *registrations) remove(params unregistrationParams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range params.Unregistrations {
		delete(r.byID, p.ID)
	}
}

// options returns the options of a registered method.
func (r *registrations) find(method string) (jsontext.Value, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range r.byID {
		if entry.method == method {
			return entry.options, true
		}
	}
	return nil, false
}

// all returns the options of every registration of a method.
func (r *registrations) all(method string) []jsontext.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []jsontext.Value
	for _, entry := range r.byID {
		if entry.method == method {
			out = append(out, entry.options)
		}
	}
	return out
}

// watches reports whether the server wants to hear of a change.
func (r *registrations) watches(v *session, ch change) bool {
	root := v.client.work.Root()
	name := filepath.Join(root, filepath.FromSlash(ch.path))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range r.byID {
		if slices.ContainsFunc(entry.watchers, func(w watched) bool { return w.matches(name, ch.kind, root, v.rootAbs) }) {
			return true
		}
	}
	return false
}

// offers reports whether the server does a request: only those are sent. Just after
// its start it waits until the server may have registered that, so that the first
// question is not told that there is no such thing.
func (v *session) offers(method string) bool {
	late := time.NewTimer(time.Until(v.initialized.Add(registersWithin)))
	defer late.Stop()
	for {
		moved := v.dynamic.changed()
		if v.has(method) {
			return true
		}
		select {
		case <-moved:
		case <-late.C:
			return false
		case <-v.dead:
			return false
		}
	}
}

// registersWithin is how long after its start a server may register what it
// offers: many answer initialize with next to nothing, and say the rest at once
// after it.
const registersWithin = time.Second

// has is offers for what an answer can do without: as far as known now.
func (v *session) has(method string) bool {
	var static jsontext.Value
	switch method {
	case "textDocument/hover":
		static = v.caps.HoverProvider
	case "textDocument/definition":
		static = v.caps.DefinitionProvider
	case "textDocument/declaration":
		static = v.caps.DeclarationProvider
	case "textDocument/typeDefinition":
		static = v.caps.TypeDefinitionProvider
	case "textDocument/implementation":
		static = v.caps.ImplementationProvider
	case "textDocument/references":
		static = v.caps.ReferencesProvider
	case "textDocument/documentSymbol":
		static = v.caps.DocumentSymbolProvider
	case "workspace/symbol":
		static = v.caps.WorkspaceSymbols
	case "textDocument/rename":
		static = v.caps.RenameProvider
	case "textDocument/prepareRename":
		var options struct {
			Prepare bool `json:"prepareProvider"`
		}
		provider := v.caps.RenameProvider
		if dynamic, ok := v.dynamic.find("textDocument/rename"); ok {
			provider = dynamic
		}
		return provider.Kind() == '{' && decodeJSON(provider, &options) == nil && options.Prepare
	case "textDocument/diagnostic":
		static = v.caps.DiagnosticProvider
	default:
		static = v.caps.provider(method)
	}
	if offered(static) {
		return true
	}
	_, ok := v.dynamic.find(method)
	return ok
}

// pullOptions returns the options of pull diagnostics, if the server has them.
func (v *session) pullOptions() (options diagnosticOptions, ok bool) {
	provider := v.caps.DiagnosticProvider
	if !offered(provider) {
		if provider, ok = v.dynamic.find("textDocument/diagnostic"); !ok {
			return options, false
		}
	}
	if provider.Kind() == '{' && decodeJSON(provider, &options) != nil {
		return options, false
	}
	return options, true
}
