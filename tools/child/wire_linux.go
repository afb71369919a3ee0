package child

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Owner, guardian and reapers talk in datagrams over SOCK_SEQPACKET pairs: one
// message is one packet, order is kept, and the end of either side is seen at
// once. Both sides are the same executable, so the form has no versions.
//
// A packet is a kind, the number of the request it belongs to, and fields of
// that kind. A packet too large for the socket travels in a memfd, the last of
// the descriptors beside it, and its kind carries the bit kindBoxed.

type kind byte

const (
	// To a guardian.
	kindSpawn kind = iota + 1 // start a reaper on the socket passed along
	kindDrop                  // kill that reaper; answered by kindReport
	kindSpare                 // leave that reaper alone at the end, or no more; answered by kindDone
	// To a reaper.
	kindStart     // start a program; answered by kindStarted or kindFailed
	kindSignal    // signal the program's group; answered by kindDone
	kindTerminate // ask the whole tree to end; answered by kindReport
	kindKill      // kill the whole tree; answered by kindReport
	kindTree      // name the whole tree; answered by kindReport
	kindLetGo     // keep the files beside it and outlive the owner; answered by kindDone
	// From either.
	kindReport
	kindDone
	// From a reaper.
	kindStarted
	kindFailed
	kindExited // the program itself has ended, and perhaps its tree
	kindEmpty  // nothing is left of the tree: the reaper is free

	kindBoxed kind = 0x80
)

const (
	// maxPacket is the limit towards helpers; it stays well below the default
	// socket buffer (208 KiB).
	maxPacket = 32 << 10
	// maxBoxed is beyond what execve(2) takes for arguments and environment.
	maxBoxed = 16 << 20
	// maxFiles is the most descriptors of one packet: 0 to 2 and a box.
	maxFiles = 4
)

var errMalformed = errors.New("child: malformed message between roles")

// encoder appends fields to a packet.
type encoder []byte

func newPacket(k kind, request uint64) encoder {
	return binary.AppendUvarint(encoder{byte(k)}, request)
}

func (e *encoder) int(v int64) { *e = binary.AppendVarint(*e, v) }

func (e *encoder) bool(v bool) {
	var n int64
	if v {
		n = 1
	}
	e.int(n)
}

func (e *encoder) text(s string) {
	*e = binary.AppendUvarint(*e, uint64(len(s)))
	*e = append(*e, s...)
}

func (e *encoder) texts(list []string) {
	e.int(int64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) infos(list []Info) {
	e.int(int64(len(list)))
	for _, info := range list {
		e.int(int64(info.PID))
		e.text(info.Command)
	}
}

// decoder takes fields off a packet; after the first that does not fit it
// yields zero values and err is set.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail() { d.rest, d.err = nil, errMalformed }

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bool() bool { return d.int() != 0 }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

// count reads the length of a list, each element of which has a byte or more.
func (d *decoder) count() int {
	n := d.int()
	if n < 0 || n > int64(len(d.rest)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) texts() []string {
	list := make([]string, d.count())
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) infos() []Info {
	list := make([]Info, d.count())
	for i := range list {
		list[i] = Info{PID: int(d.int()), Command: d.text()}
	}
	return list
}

// message is a received packet. Whoever receives it owns its files.
type message struct {
	kind    kind
	request uint64
	fields  decoder
	files   []int
}

func (m *message) closeFiles() {
	for _, fd := range m.files {
		unix.Close(fd)
	}
	m.files = nil
}

// send writes one packet with descriptors; it blocks while the socket is full
// if the socket does. One over limit goes in a box. flags are those of sendmsg(2).
func send(socket int, packet encoder, files []int, limit, flags int) error {
	if len(packet) > limit {
		box, err := boxed(packet)
		if err != nil {
			return err
		}
		defer unix.Close(box)
		files = append(files[:len(files):len(files)], box)
		packet = encoder{packet[0] | byte(kindBoxed)}
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for {
		err := unix.Sendmsg(socket, packet, rights, nil, flags|unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func boxed(packet []byte) (fd int, err error) {
	if len(packet) > maxBoxed {
		// What execve would say, and sooner.
		return -1, unix.E2BIG
	}
	fd, err = unix.MemfdCreate("prism-message", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	for off := 0; off < len(packet); {
		n, err := unix.Pwrite(fd, packet[off:], int64(off))
		if err != nil {
			unix.Close(fd)
			return -1, err
		}
		off += n
	}
	return fd, nil
}

// receive reads one packet into buffer, which has the sender's limit; io.EOF is
// the end of the other side. The message refers to buffer.
func receive(socket int, buffer []byte, flags int) (*message, error) {
	rights := make([]byte, unix.CmsgSpace(maxFiles*4))
	var n, rightsLen int
	for {
		var err error
		n, rightsLen, _, _, err = unix.Recvmsg(socket, buffer, rights, flags|unix.MSG_CMSG_CLOEXEC)
		if err == nil {
			break
		}
		if errors.Is(err, unix.ECONNRESET) {
			return nil, io.EOF
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, err
		}
	}
	if n == 0 {
		return nil, io.EOF
	}
	m := &message{}
	if rightsLen > 0 {
		controls, err := unix.ParseSocketControlMessage(rights[:rightsLen])
		if err != nil {
			return nil, err
		}
		for i := range controls {
			fds, err := unix.ParseUnixRights(&controls[i])
			if err == nil {
				m.files = append(m.files, fds...)
			}
		}
	}
	packet, err := m.unbox(buffer[:n])
	if err != nil {
		m.closeFiles()
		return nil, err
	}
	m.kind = kind(packet[0])
	m.fields.rest = packet[1:]
	m.request = m.fields.uint()
	return m, m.fields.err
}

// unbox returns the packet itself, or the one in the last file.
func (m *message) unbox(packet []byte) ([]byte, error) {
	if kind(packet[0])&kindBoxed == 0 {
		return packet, nil
	}
	if len(m.files) == 0 {
		return nil, errMalformed
	}
	box := m.files[len(m.files)-1]
	m.files = m.files[:len(m.files)-1]
	file := os.NewFile(uintptr(box), "message")
	defer file.Close()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxBoxed))
	if err == nil && len(content) == 0 {
		err = errMalformed
	}
	return content, err
}

// spec is a Command as a reaper gets it; its files come beside the packet.
type spec struct {
	path, dir string
	args, env []string
	// given are the descriptors of 0 to 2 that come along; others are null.
	given      [3]bool
	tty        bool
	confine    bool
	network    bool
	writeRoots []string
}

func (e *encoder) spec(s *spec) {
	e.text(s.path)
	e.text(s.dir)
	e.texts(s.args)
	e.texts(s.env)
	for _, given := range s.given {
		e.bool(given)
	}
	e.bool(s.tty)
	e.bool(s.confine)
	e.bool(s.network)
	e.texts(s.writeRoots)
}

func (d *decoder) spec() *spec {
	s := &spec{path: d.text(), dir: d.text(), args: d.texts(), env: d.texts()}
	for i := range s.given {
		s.given[i] = d.bool()
	}
	s.tty, s.confine, s.network = d.bool(), d.bool(), d.bool()
	s.writeRoots = d.texts()
	return s
}

func (e *encoder) exit(x Exit) {
	e.int(int64(x.Code))
	e.int(int64(x.Signal))
	e.bool(x.CoreDumped)
	e.int(int64(x.User))
	e.int(int64(x.System))
	e.int(x.MaxRSS)
}

func (d *decoder) exit() Exit {
	return Exit{
		Code:       int(d.int()),
		Signal:     unix.Signal(d.int()),
		CoreDumped: d.bool(),
		User:       time.Duration(d.int()),
		System:     time.Duration(d.int()),
		MaxRSS:     d.int(),
	}
}
