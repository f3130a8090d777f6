// Tries one way out of the sandbox, for real. The name of the way is the first argument, then what it
// needs. Prints what happened; exit code 42 when the way was open.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static int held(const char *what) {
    printf("held: %s: %s\n", what, strerror(errno));
    return 0;
}

static int open_way(const char *what) {
    printf("OPEN: %s\n", what);
    fflush(stdout);
    return 42;
}

static int result(long answer, const char *what) {
    return answer < 0 ? held(what) : open_way(what);
}

static int write_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0) return held(path);
    return write(fd, "x", 1) == 1 ? open_way(path) : held(path);
}

static int read_file(const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    char byte;
    if (fd < 0) return held(path);
    return read(fd, &byte, 1) >= 0 ? open_way(path) : held(path);
}

static int unix_socket(const char *path, int is_abstract) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return held("socket");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path + is_abstract, path, sizeof to.sun_path - 2);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(path);
    return result(connect(fd, (struct sockaddr *)&to, length + !is_abstract), "connect");
}

static int inet(int kind, const char *address, int port) {
    int fd = socket(AF_INET, kind, 0);
    if (fd < 0) return held("socket");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) return held("connect");
    if (kind == SOCK_STREAM) return open_way("connected");
    // Whether it arrives is seen outside.
    return result(send(fd, "x", 1, 0), "sent") ? 0 : 0;
}

static int signal_to(pid_t pid) {
    int way = 0;
    way |= result(kill(pid, SIGKILL), "kill");
    way |= result(syscall(SYS_tgkill, pid, pid, SIGKILL), "tgkill");
    way |= result(syscall(SYS_tkill, pid, SIGKILL), "tkill");
    int fd = syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0) way |= result(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0), "pidfd");
    return way;
}

static int other_memory(pid_t pid) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int way = read_file(path);
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    way |= result(process_vm_readv(pid, &here, 1, &there, 1, 0), "process_vm_readv");
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    way |= read_file(path);
    snprintf(path, sizeof path, "/proc/%d/cwd/.", pid);
    way |= result(open(path, O_RDONLY | O_DIRECTORY), path);
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    return way | result(open(path, O_RDONLY | O_DIRECTORY), path);
}

static int typed(void) {
    int way = 0;
    for (int fd = 0; fd < 8; fd++)
        if (isatty(fd)) way |= result(ioctl(fd, TIOCSTI, "x"), "TIOCSTI");
    int fd = open("/dev/tty", O_RDWR);
    if (fd < 0) return way | held("/dev/tty");
    return way | result(write(fd, "x", 1), "/dev/tty");
}

static void *idle(void *unused) {
    pause();
    return unused;
}

static int many(int as_threads) {
    int count = 0;
    for (; count < 5000; count++) {
        if (as_threads) {
            pthread_t thread;
            pthread_attr_t small;
            pthread_attr_init(&small);
            pthread_attr_setstacksize(&small, 32768);
            if (pthread_create(&thread, &small, idle, NULL)) break;
        } else {
            pid_t pid = fork();
            if (pid < 0) break;
            if (pid == 0) {
                pause();
                _exit(0);
            }
        }
    }
    printf("count %d\n", count);
    return count > 200 ? open_way("as many as it likes") : 0;
}

static void bomb(void) {
    signal(SIGCHLD, SIG_IGN);
    for (;;) fork();
}

static int take_memory(size_t most, int how) {
    size_t step = 4 << 20, taken = 0;
    for (; taken < most; taken += step) {
        char *block;
        if (how == 0) block = malloc(step);
        else if (how == 1)
            block = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        else {
            int fd = memfd_create("x", 0);
            if (fd < 0 || ftruncate(fd, step)) return held("memfd");
            block = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        }
        if (!block || block == MAP_FAILED) return held("memory");
        memset(block, 1, step);
    }
    return open_way("memory");
}

static int large_file(const char *path, off_t most) {
    static char block[1 << 20];
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    signal(SIGXFSZ, SIG_IGN);
    for (off_t done = 0; done < most; done += sizeof block)
        if (write(fd, block, sizeof block) != sizeof block) return held("write");
    return open_way(path);
}

static int survive(const char *mark, int seconds) {
    if (fork()) _exit(0);
    setsid();
    if (fork()) _exit(0);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close(0), close(1), close(2);
    for (time_t end = time(NULL) + seconds; time(NULL) < end; usleep(50000)) {
        int fd = open(mark, O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (write(fd, "alive\n", 6)) {}
        close(fd);
    }
    _exit(0);
}

static int raw_clone(unsigned long flags) {
    long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    int way = result(pid, "clone");
    unsigned long long all[11] = {flags, 0, 0, 0, SIGCHLD};
    pid = syscall(SYS_clone3, all, sizeof all);
    if (pid == 0) _exit(0);
    return way | result(pid, "clone3");
}

static int kernel_doors(void) {
    static char params[256];
    int way = 0;
    way |= result(syscall(SYS_bpf, 0, params, sizeof params), "bpf");
    way |= result(syscall(SYS_perf_event_open, params, 0, -1, -1, 0), "perf_event_open");
    way |= result(syscall(SYS_userfaultfd, 0), "userfaultfd");
    way |= result(syscall(SYS_io_uring_setup, 8, params), "io_uring_setup");
    way |= result(syscall(SYS_kexec_load, 0, 0, NULL, 0), "kexec_load");
    way |= result(syscall(SYS_init_module, params, 0, ""), "init_module");
    way |= result(syscall(SYS_syslog, 10, NULL, 0), "syslog");
    way |= result(syscall(SYS_add_key, "user", "name", "x", 1, -2), "add_key");
    way |= result(syscall(SYS_keyctl, 0, -3, 1), "keyctl");
    way |= result(socket(AF_ALG, SOCK_SEQPACKET, 0), "AF_ALG");
    way |= result(socket(AF_PACKET, SOCK_RAW, htons(3)), "AF_PACKET");
    way |= result(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), "raw socket");
    way |= result(socket(40, SOCK_STREAM, 0), "AF_VSOCK");
    way |= result(socket(AF_NETLINK, SOCK_RAW, 12), "netfilter");
#ifdef __x86_64__
    // The same calls by the numbers of the x32 interface.
    way |= result(syscall(SYS_bpf | 0x40000000, 0, params, sizeof params), "bpf as x32");
    way |= result(syscall(SYS_unshare | 0x40000000, CLONE_NEWUSER), "unshare as x32");
#endif
    return way;
}

static int mounts(const char *folder) {
    int way = result(mount("none", folder, "tmpfs", 0, NULL), "mount");
    way |= result(umount2("/tmp", MNT_DETACH), "umount");
    way |= result(mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), "remount");
    way |= result(chroot(folder), "chroot");
    way |= result(syscall(SYS_open_tree, -100, "/", 1), "open_tree");
    return way | result(syscall(SYS_fsopen, "proc", 0), "fsopen");
}

static int namespaces(void) {
    int way = result(unshare(CLONE_NEWUSER), "unshare user");
    way |= result(unshare(CLONE_NEWNS), "unshare mount");
    way |= raw_clone(CLONE_NEWUSER);
    way |= raw_clone(CLONE_NEWNET);
    int fd = open("/proc/1/ns/mnt", O_RDONLY);
    return fd < 0 ? way : way | result(setns(fd, 0), "setns");
}

static int metadata(const char *path) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    int way = result(chmod(path, 0777), "chmod");
    way |= result(fchmodat(AT_FDCWD, path, 0777, 0), "fchmodat");
    way |= result(syscall(452, AT_FDCWD, path, 0777, 0), "fchmodat2");
    way |= result(chown(path, getuid(), getgid()), "chown");
    way |= result(utimensat(AT_FDCWD, path, times, 0), "utimensat");
    way |= result(setxattr(path, "user.x", "x", 1, 0), "setxattr");
    return way | result(truncate(path, 0), "truncate");
}

static int by_handle(const char *path) {
    struct { struct file_handle head; char body[128]; } handle = {.head.handle_bytes = 128};
    int mount;
    int way = result(name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0), "name_to_handle");
    int root = open("/", O_RDONLY);
    return way | result(open_by_handle_at(root, &handle.head, O_RDONLY), "open_by_handle");
}

static int shared(int key) {
    int way = 0, id = shmget(key, 4096, 0);
    way |= result(id < 0 ? -1 : (long)shmat(id, NULL, 0), "shmat");
    return way | result(msgget(key, 0), "msgget");
}

static int others_run(pid_t pid) {
    struct rlimit none = {1, 1};
    int way = result(setpriority(PRIO_PROCESS, pid, 19), "setpriority");
    way |= result(prlimit(pid, RLIMIT_NOFILE, &none, NULL), "prlimit");
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    way |= result(sched_setaffinity(pid, sizeof one, &one), "sched_setaffinity");
    return way | result(ptrace(PTRACE_ATTACH, pid, 0, 0), "ptrace");
}

static int become_root(void) {
    // The name of root is nothing; what counts is what it may then do.
    printf("setuid: %d, now %d\n", setuid(0), geteuid());
    int way = result(mknod("device", S_IFBLK | 0600, makedev(8, 0)), "mknod");
    return way | result(syscall(SYS_reboot, 0, 0, 0, 0), "reboot");
}

static int environment(char **all) {
    int way = 0;
    for (; *all; all++) {
        printf("%s\n", *all);
        if (strstr(*all, "SECRET") || strstr(*all, "KEY") || strstr(*all, "HOME=")) way = 42;
    }
    return way;
}

static int descriptors(void) {
    char path[64], to[256];
    int way = 0;
    for (int fd = 3; fd < 256; fd++) {
        if (fcntl(fd, F_GETFD) < 0) continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, to, sizeof to - 1);
        to[length < 0 ? 0 : length] = 0;
        printf("descriptor %d: %s\n", fd, to);
        way = 42;
    }
    return way;
}

int main(int argc, char **argv, char **env) {
    const char *way = argv[1], *one = argc > 2 ? argv[2] : "", *two = argc > 3 ? argv[3] : "";
#define WAY(name) if (!strcmp(way, name))
    WAY("write") return write_file(one);
    WAY("read") return read_file(one);
    WAY("list") return result(open(one, O_RDONLY | O_DIRECTORY), one);
    WAY("remove") return result(unlink(one), one);
    WAY("rename") return result(rename(one, two), two);
    WAY("make-folder") return result(mkdir(one, 0755), one);
    WAY("symlink-out") { unlink(two); return symlink(one, two) ? held("symlink") : write_file(two) | read_file(two); }
    WAY("hardlink-out") return result(linkat(AT_FDCWD, one, AT_FDCWD, two, 0), "link");
    WAY("metadata") return metadata(one);
    WAY("handle") return by_handle(one);
    WAY("unix") return unix_socket(one, 0);
    WAY("abstract") return unix_socket(one, 1);
    WAY("tcp") return inet(SOCK_STREAM, one, atoi(two));
    WAY("udp") return inet(SOCK_DGRAM, one, atoi(two));
    WAY("signal") return signal_to(atoi(one));
    // The answer says nothing; who is alive afterwards does.
    WAY("signal-all") { printf("tried: %d\n", kill(-1, SIGWINCH)); return 0; }
    WAY("memory-of") return other_memory(atoi(one));
    WAY("run-of") return others_run(atoi(one));
    WAY("type") return typed();
    WAY("threads") return many(1);
    WAY("processes") return many(0);
    WAY("bomb") { bomb(); return 0; }
    WAY("malloc") return take_memory(10UL << 30, 0);
    WAY("shared-memory") return take_memory(10UL << 30, 1);
    WAY("memfd") return take_memory(10UL << 30, 2);
    WAY("large-file") return large_file(one, 1L << 30);
    WAY("survive") return survive(one, 20);
    WAY("loop") for (;;) {}
    WAY("stubborn") { for (int s = 1; s < 65; s++) signal(s, SIG_IGN); for (;;) pause(); }
    WAY("closed") { close(0), close(1), close(2); for (;;) pause(); }
    WAY("flood") { static char block[65536]; memset(block, 'x', sizeof block); for (;;) if (write(1, block, sizeof block) < 0) return 0; }
    WAY("kernel") return kernel_doors();
    WAY("mounts") return mounts(one);
    WAY("namespaces") return namespaces();
    WAY("shared") return shared(atoi(one));
    WAY("make-shared") { int id = shmget(atoi(one), 4096, IPC_CREAT | 0666); printf("%d\n", id); return id < 0; }
    WAY("drop-shared") return shmctl(atoi(one), IPC_RMID, NULL) < 0;
    WAY("status") { static char all[8192]; int fd = open("/proc/self/status", O_RDONLY); if (fd < 0 || read(fd, all, sizeof all - 1) < 0) return held("status"); puts(all); return 0; }
    WAY("root") return become_root();
    WAY("run") { execv(one, argv + 2); return held(one); }
    WAY("environment") return environment(env);
    WAY("descriptors") return descriptors();
    WAY("exit") return atoi(one);
    WAY("abort") abort();
    WAY("crash") { volatile int *nothing = 0; return *nothing; }
    WAY("uid") { printf("%d\n", getuid()); return 0; }
    printf("no such way: %s\n", way);
    return 99;
}
