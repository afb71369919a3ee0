package procsess

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// pair is two ends of a connection, of which the second answers.
func pair(t *testing.T, answers map[string]answerer) (client, server *link) {
	t.Helper()
	a, b := net.Pipe()
	client, server = newLink(a, nil), newLink(b, answers)
	t.Cleanup(func() { client.close(); server.close() })
	return client, server
}

func TestLinkCarriesErrorsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := pair(t, map[string]answerer{
			"fail": answering(func(context.Context, nothing) (nothing, error) {
				return nothing{}, tools.Errorf(tools.CodeProcessLimit, "too much of it").WithDetails([]int{1, 2})
			}),
			"long": answering(func(context.Context, nothing) (string, error) { return strings.Repeat("x", maxFrame), nil }),
			"echo": answering(func(_ context.Context, in string) (string, error) { return in, nil }),
		})
		_, err := exchange[nothing](t.Context(), client, "fail", nothing{})
		var coded *tools.Error
		if !errors.As(err, &coded) || coded.Code != tools.CodeProcessLimit || coded.Message != "too much of it" || coded.Details == nil {
			t.Errorf("%+v", err)
		}
		_, err = exchange[string](t.Context(), client, "long", nothing{})
		if !errors.Is(err, tools.CodeProcessLimit) {
			t.Errorf("an answer that is too long: %v", err)
		}
		_, err = exchange[string](t.Context(), client, "echo", strings.Repeat("x", maxFrame))
		if !errors.Is(err, tools.CodeProcessLimit) {
			t.Errorf("a request that is too long: %v", err)
		}
		_, err = exchange[string](t.Context(), client, "nonsense", nothing{})
		if !errors.Is(err, tools.CodeProcessUnsupported) {
			t.Errorf("an unknown request: %v", err)
		}
		if got, err := exchange[string](t.Context(), client, "echo", "still here"); err != nil || got != "still here" {
			t.Errorf("afterwards: %q, %v", got, err)
		}
	})
}

func TestLinkCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan error, 1)
		client, _ := pair(t, map[string]answerer{
			"wait": answering(func(ctx context.Context, _ nothing) (nothing, error) {
				<-ctx.Done()
				over <- ctx.Err()
				return nothing{}, ctx.Err()
			}),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := exchange[nothing](ctx, client, "wait", nothing{})
		if !errors.Is(err, tools.CodeTimeout) {
			t.Errorf("%v", err)
		}
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("over there: %v", err)
		}
	})
}

func TestLinkThatEndsFreesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, map[string]answerer{
			"wait": answering(func(ctx context.Context, _ nothing) (nothing, error) { <-ctx.Done(); return nothing{}, ctx.Err() }),
		})
		result := make(chan error)
		go func() {
			_, err := exchange[nothing](t.Context(), client, "wait", nothing{})
			result <- err
		}()
		synctest.Wait()
		server.close()
		if err := <-result; !errors.Is(err, tools.CodeRecoveryUnknown) {
			t.Errorf("%v", err)
		}
		if _, err := exchange[nothing](t.Context(), client, "wait", nothing{}); !errors.Is(err, tools.CodeRecoveryUnknown) {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// FuzzFrame: whatever a peer sends is a message, or the end.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 1, 0, 0, 0, 1})
	f.Add([]byte{0, 0, 0, 9, 1, 0, 0, 0, 1, 3, 'a', 'b', 'c'})
	f.Add([]byte{0, 0, 0, 6, 1, 0, 0, 0, 1, 200})
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bufio.NewReader(bytes.NewReader(data)))
		if err == nil && (len(got.body) > len(data) || int(binary.BigEndian.Uint32(data)) > len(data)-4) {
			t.Errorf("%d bytes became %+v", len(data), got)
		}
		if err != nil && !errors.Is(err, tools.CodeRecoveryUnknown) && !errors.Is(err, tools.CodeRecoveryUntrusted) {
			t.Errorf("%v", err)
		}
	})
}
