package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// networkName is the file system's name by its number (statfs(2)), if several machines
// can have it at once: locks and shared memory then do not keep them apart. FUSE is
// whatever is behind it.
func networkName(magic int64) string {
	switch uint32(magic) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.OCFS2_SUPER_MAGIC:
		return "OCFS2"
	case 0x01161970:
		return "GFS2"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x47504653:
		return "GPFS"
	case 0x19830326:
		return "BeeGFS"
	case 0x786f4256:
		return "VirtualBox shared folder"
	}
	return ""
}

// networkFUSE are the types of FUSE file systems that are elsewhere.
func networkFUSE(kind string) bool {
	switch kind {
	case "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse",
		"fuse.davfs", "fuse.curlftpfs", "fuse.goofys", "fuse.mount-s3", "fuse.juicefs", "fuse.seaweedfs", "fuse.moosefs", "fuse.mfs":
		return true
	}
	return false
}

// refuseNetwork is CodeStateUnavailable where a directory is on a network file system.
func refuseNetwork(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	name := networkName(int64(fs.Type))
	if uint32(fs.Type) == unix.FUSE_SUPER_MAGIC {
		var stat unix.Stat_t
		if err := unix.Stat(dir, &stat); err != nil {
			return &os.PathError{Op: "stat", Path: dir, Err: err}
		}
		mounts, err := os.Open("/proc/self/mountinfo")
		if err != nil {
			return nil // nothing is known of it
		}
		defer mounts.Close()
		if kind := mountKind(bufio.NewScanner(mounts), uint64(stat.Dev)); networkFUSE(kind) {
			name = kind
		}
	}
	if name == "" {
		return nil
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s is on a network file system (%s), where a store is not safe; name a local directory, or a PostgreSQL server", dir, name)
}

// mountKind finds the type of the file system on a device (proc_pid_mountinfo(5)).
func mountKind(mounts *bufio.Scanner, device uint64) string {
	want := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	for mounts.Scan() {
		before, after, _ := strings.Cut(mounts.Text(), " - ")
		if fields := strings.Fields(before); len(fields) < 3 || fields[2] != want {
			continue
		}
		if kind, _, ok := strings.Cut(after, " "); ok {
			return kind
		}
	}
	return ""
}
