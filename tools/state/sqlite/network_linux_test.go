package sqlite

import (
	"bufio"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkFileSystems(t *testing.T) {
	for magic, want := range map[int64]string{
		0x6969: "NFS", 0xff534d42: "SMB", -0xacb2be: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x01021997: "9p", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre",
		0xef53: "", 0x9123683e: "", 0x58465342: "", 0x01021994: "", 0x794c7630: "", 0x65735546: "",
	} {
		if got := networkName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	mounts := `22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
45 28 0:41 / /mnt/a\040b rw,nosuid,nodev - fuse.sshfs ann@host:/home rw,user_id=1000
46 28 0:42 / /mnt/ntfs rw shared:9 master:2 - fuseblk /dev/sdb1 rw`
	for device, want := range map[uint64]string{unix.Mkdev(0, 41): "fuse.sshfs", unix.Mkdev(0, 42): "fuseblk", unix.Mkdev(9, 9): ""} {
		if got := mountKind(bufio.NewScanner(strings.NewReader(mounts)), device); got != want {
			t.Errorf("%d is %q, want %q", device, got, want)
		}
	}
	if !networkFUSE("fuse.sshfs") || networkFUSE("fuseblk") {
		t.Error("which FUSE file systems are elsewhere")
	}
	if err := refuseNetwork(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := refuseNetwork("/nonexistent/x"); err == nil {
		t.Error("a directory that is not there")
	}
}
