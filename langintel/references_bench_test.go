package langintel_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/child"
)

// rawServer speaks to gopls over pipes with nothing in between.
type rawServer struct {
	b   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startRaw(b testing.TB, gopls, dir string) *rawServer {
	b.Helper()
	cmd := exec.Command(gopls)
	cmd.Dir = dir
	cmd.Env = append(child.Environment(os.Environ(), nil), "GOTOOLCHAIN=local", "GOPACKAGESDRIVER=off")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	r := &rawServer{b: b, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	b.Cleanup(func() {
		r.call("shutdown", "null")
		r.send(`{"jsonrpc":"2.0","method":"exit"}`)
		_ = cmd.Wait()
	})
	r.call("initialize", fmt.Sprintf(`{"processId":%d,"rootUri":"file://%s","capabilities":{"general":{"positionEncodings":["utf-8"]}}}`, os.Getpid(), dir))
	r.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return r
}

func (r *rawServer) send(body string) {
	if _, err := io.WriteString(r.in, "Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body); err != nil {
		r.b.Fatal(err)
	}
}

// call returns the bytes of the answer; what the server asks is answered with null.
func (r *rawServer) call(method, params string) []byte {
	r.id++
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, r.id, method, params))
	for {
		header, err := textproto.NewReader(r.out).ReadMIMEHeader()
		if err != nil {
			r.b.Fatal(err)
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			r.b.Fatal(err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r.out, body); err != nil {
			r.b.Fatal(err)
		}
		var head struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if len(body) < 4<<10 {
			if err := json.Unmarshal(body, &head); err != nil {
				r.b.Fatal(err)
			}
		}
		switch {
		case head.Method != "" && head.ID != nil:
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, head.ID))
		case head.Method == "":
			return body
		}
	}
}

func p50(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkReferences compares a warm answer of ours, complete with source lines
// and enclosing symbols, with gopls's own over a pipe.
func BenchmarkReferences(b *testing.B) {
	c := open(b, module(b, "golang.org/x/tools"), &langintel.Options{Timeout: 2 * time.Minute})
	symbol := "inspector.Inspector.Preorder"
	gopls := goplsProgram(b, c)
	ctx := within(b, 10*time.Minute)
	definition, err := c.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Symbol: symbol}})
	if err != nil || len(definition.Locations) != 1 {
		b.Fatalf("%+v, %v", definition, err)
	}
	d := definition.Locations[0]
	query := langintel.ReferencesQuery{Place: langintel.Place{Path: d.Path, Line: d.Line, Column: d.Column}}
	raw := startRaw(b, gopls, c.dir)
	uri := "file://" + filepath.Join(c.dir, d.Path)
	text, err := json.Marshal(c.read(d.Path))
	if err != nil {
		b.Fatal(err)
	}
	raw.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%s}}}`, uri, text))
	params := fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d},"context":{"includeDeclaration":true}}`, uri, d.Line-1, d.Column-1)
	for range 3 { // what is loaded and cached at first is not asked about here
		raw.call("textDocument/references", params)
		if _, err := c.References(ctx, query); err != nil {
			b.Fatal(err)
		}
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		began := time.Now()
		raw.call("textDocument/references", params)
		middle := time.Now()
		got, err := c.References(ctx, query)
		ours = append(ours, time.Since(middle))
		theirs = append(theirs, middle.Sub(began))
		if err != nil || got.Total < 30 {
			b.Fatalf("%+v, %v", got, err)
		}
	}
	b.ReportMetric(float64(p50(theirs).Microseconds()), "raw-p50-µs")
	b.ReportMetric(float64(p50(ours).Microseconds()), "ours-p50-µs")
	b.ReportMetric(float64((p50(ours) - p50(theirs)).Microseconds()), "over-p50-µs")
}
