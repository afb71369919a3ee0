package langintel

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

func TestScanEnvelope(t *testing.T) {
	for _, c := range []struct {
		in, id, method, params, result, fault string
		bad                                   bool
	}{
		{in: `{"jsonrpc":"2.0","id":1,"result":{"a":["}","\"]",1]}}`, id: "1", result: `{"a":["}","\"]",1]}`},
		{in: ` { "id" : "x" , "method" : "m/n" , "params" : [ 1 , {} ] } `, id: `"x"`, method: "m/n", params: `[ 1 , {} ]`},
		{in: `{"id":null,"method":"m"}`, method: "m"},
		{in: `{"id":12345678901234567890,"error":{"code":1}}`, id: "12345678901234567890", fault: `{"code":1}`},
		{in: `{"result":"a\\","id":-3}`, id: "-3", result: `"a\\"`},
		{in: `{}`},
		{in: `[]`, bad: true},
		{in: `{"a":1`, bad: true},
		{in: `{"a":"b`, bad: true},
		{in: `{"a":[1,2}`, bad: true},
		{in: `{"a"}`, bad: true},
		{in: `{"a":1 "b":2}`, bad: true},
		{in: `{"a":1}x`, bad: true},
		{in: ``, bad: true},
	} {
		env, err := scanEnvelope([]byte(c.in))
		if c.bad != (err != nil) {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := [...]string{string(env.id), env.method, string(env.params), string(env.result), string(env.fault)}; !c.bad && got != [...]string{c.id, c.method, c.params, c.result, c.fault} {
			t.Errorf("%s: %q", c.in, got)
		}
	}
}

func FuzzScanEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":["}","\"]",1]}}`))
	f.Add([]byte(`{"\\":"\"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		env, err := scanEnvelope(data)
		if err != nil {
			return
		}
		// What is valid JSON must have come apart at the right places.
		if jsontext.Value(data).IsValid() && env.result != nil && !jsontext.Value(env.result).IsValid() {
			t.Errorf("%q: result %q", data, env.result)
		}
	})
}

// echo answers requests on the other ends of two pipes: each with result.
func echo(in io.Reader, out io.Writer, result []byte) {
	reader := bufio.NewReaderSize(in, 64<<10)
	var frame []byte
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return
		}
		var length int
		if _, err := fmt.Sscanf(string(line), "Content-Length: %d", &length); err != nil {
			return
		}
		if _, err := reader.Discard(2); err != nil {
			return
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(reader, body); err != nil {
			return
		}
		env, err := scanEnvelope(body)
		if err != nil {
			return
		}
		frame = append(frame[:0], fmt.Sprintf("Content-Length: %d\r\n\r\n", len(`{"jsonrpc":"2.0","id":,"result":}`)+len(env.id)+len(result))...)
		frame = append(frame, `{"jsonrpc":"2.0","id":`...)
		frame = append(append(frame, env.id...), `,"result":`...)
		frame = append(append(frame, result...), '}')
		if _, err := out.Write(frame); err != nil {
			return
		}
	}
}

// pipes joins a client to an echo.
func pipes(b *testing.B, result []byte) (in *os.File, out *os.File) {
	b.Helper()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		echo(theirIn, theirOut, result)
	}()
	b.Cleanup(func() {
		ourOut.Close()
		<-done
		for _, f := range []*os.File{theirIn, theirOut, ourIn} {
			f.Close()
		}
	})
	return ourIn, ourOut
}

func results() map[string][]byte {
	item := `{"uri":"file:///home/ada/project/internal/server/handler.go","range":{"start":{"line":120,"character":14},"end":{"line":120,"character":22}}}`
	return map[string][]byte{
		"small": []byte(`{"contents":"x"}`),
		"5.9MB": []byte("[" + strings.Repeat(item+",", 5_900_000/(len(item)+1)) + item + "]"),
	}
}

// BenchmarkFloor is the pipe alone: one write and one read of the same bytes.
func BenchmarkFloor(b *testing.B) {
	for name, result := range results() {
		b.Run(name, func(b *testing.B) {
			in, out := pipes(b, result)
			request := []byte("Content-Length: 60\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","p":{}}`)
			request = bytes.Replace(request, []byte("60"), []byte(fmt.Sprint(len(request)-len("Content-Length: 60\r\n\r\n"))), 1)
			reader := bufio.NewReaderSize(in, 64<<10)
			head := "Content-Length: " + fmt.Sprint(len(`{"jsonrpc":"2.0","id":1,"result":}`)+len(result)) + "\r\n\r\n"
			body := make([]byte, len(head)+len(`{"jsonrpc":"2.0","id":1,"result":}`)+len(result))
			for b.Loop() {
				if _, err := out.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(reader, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRoundTrip is ours.
func BenchmarkRoundTrip(b *testing.B) {
	for name, result := range results() {
		b.Run(name, func(b *testing.B) {
			in, out := pipes(b, result)
			r := newRPC(in, out, 32<<20, 32)
			r.start(nil, nil, nil)
			ctx := context.Background()
			length := 0
			read := resultReader(func(result jsontext.Value) error {
				length = len(result)
				return nil
			})
			for b.Loop() {
				if err := r.call(ctx, "textDocument/hover", struct{}{}, read); err != nil || length != len(result) {
					b.Fatal(err, length)
				}
			}
			b.StopTimer()
			r.close()
		})
	}
}

// BenchmarkStock is jsonrpc2 with its own stream.
func BenchmarkStock(b *testing.B) {
	for name, result := range results() {
		b.Run(name, func(b *testing.B) {
			in, out := pipes(b, result)
			conn := jsonrpc2.NewConn(jsonrpc2.NewStream(struct {
				io.Reader
				io.WriteCloser
			}{in, out}))
			conn.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
			var raw rawResult
			for b.Loop() {
				if _, err := conn.Call(context.Background(), "textDocument/hover", struct{}{}, &raw); err != nil || len(raw) != len(result) {
					b.Fatal(err, len(raw))
				}
			}
			b.StopTimer()
			_ = conn.Close()
		})
	}
}

type rawResult []byte

func (r *rawResult) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}
