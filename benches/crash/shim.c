/* Loaded before the C library. Sees the calls on files and folders below FAULT_UNDER: lets one of
 * them fail, be short, or be the last thing that the process does, and notes what a power cut would
 * leave. Calls come in two ways: by a function of the C library, whose place is taken here, and by
 * a system call that the program makes itself, which a filter hands over to a signal handler.
 *
 * FAULT_UNDER  the folder
 * FAULT_CALL   name of the calls that count: open, rename, link, unlink, mkdir, sync_folder, fsync,
 *              fdatasync, ftruncate, write, or any
 * FAULT_NTH    which of them, from 1; 0: none
 * FAULT_WHAT   kill, EIO, ENOSPC, short
 * FAULT_LASTS  1: every later one too
 * FAULT_HIT    file that gets a line for each time it happens
 * FAULT_COUNTS file that gets a line for every call
 * FAULT_KEPT   folder that keeps what is removed or replaced, by inode
 * FAULT_NOTES  file that gets a line, with tabs between its parts, for everything that was done:
 *                names FOLDER NAME INODE [NAME INODE]   what has these names now; 0: nothing
 *                folder FOLDER                          its names are on the disk
 *                synced INODE LENGTH                    its content is, up to here
 *                cut INODE LENGTH                       it has become shorter
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define LONGEST 4096

static const char *under, *wanted, *what, *hits, *counts, *kept, *notes;
static long nth;
static int lasts;
static atomic_long seen;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static const char *word(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

/* One call at a time, so that the notes are in the order of what happens. A child of a fork may have
 * got the lock from a thread that it does not have, so nobody waits for ever. */
static void lock(void) {
    for (long turns = 0; turns < 200000 && atomic_flag_test_and_set(&busy); turns++) sched_yield();
}

static void unlock(void) { atomic_flag_clear(&busy); }

/* As the system answers: a number, or an error number below 0. */
#define RAW(...) (syscall(__VA_ARGS__) == -1 ? -(long)errno : 0)

static void append(const char *file, const char *text) {
    if (!*file) return;
    long out = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0) return;
    syscall(SYS_write, out, text, strlen(text));
    syscall(SYS_close, out);
}

static int is_below(const char *path) {
    return under && *under && !strncmp(path, under, strlen(under));
}

/* The path of an open file or folder. */
static int place_of(int fd, char *path) {
    char link[64];
    if (fd == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, LONGEST - 1);
    path[got < 0 ? 0 : got] = 0;
    return is_below(path);
}

/* The path of `name` in the folder `dir`. */
static int place(int dir, const char *name, char *path) {
    if (!under || !*under) return 0;
    if (*name == '/') {
        snprintf(path, LONGEST, "%s", name);
        return is_below(path);
    }
    place_of(dir, path);
    size_t length = strlen(path);
    if (strcmp(name, ".")) snprintf(path + length, LONGEST - length, "/%s", name);
    return is_below(path);
}

static unsigned long inode(const char *path) {
    struct stat about;
    return fstatat(AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW) ? 0 : about.st_ino;
}

/* 0: goes on; else the error number, or -1 for a short write. */
static int fault(const char *call) {
    char line[64];
    snprintf(line, sizeof line, "%s\n", call);
    append(counts, line);
    if (!nth || (strcmp(wanted, call) && strcmp(wanted, "any"))) return 0;
    long now = atomic_fetch_add(&seen, 1) + 1;
    if (now != nth && !(lasts && now > nth)) return 0;
    append(hits, line);
    if (!strcmp(what, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(what, "short")) return !strcmp(call, "write") ? -1 : EIO;
    return !strcmp(what, "ENOSPC") ? ENOSPC : EIO;
}

/* Keeps what a name is about to lose. */
static void keep(const char *path) {
    char to[LONGEST];
    struct stat about;
    if (!*kept || fstatat(AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW)) return;
    if (!S_ISREG(about.st_mode)) return;
    snprintf(to, sizeof to, "%s/%lu", kept, (unsigned long)about.st_ino);
    syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, to, 0);
}

/* Splits a path at its last slash; the name. */
static char *name_of(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash) return path;
    *slash = 0;
    return slash + 1;
}

/* What one name, or two of one folder, are now. */
static void note_names(char *path, char *other) {
    char line[3 * LONGEST];
    unsigned long one = inode(path), two = other ? inode(other) : 0;
    char *name = name_of(path), *second = other ? name_of(other) : 0;
    int length = snprintf(line, sizeof line, "names\t%s\t%s\t%lu", path, name, one);
    if (other && strcmp(path, other))
        length += snprintf(line + length, sizeof line - length, "\nnames\t%s", other);
    if (other)
        length += snprintf(line + length, sizeof line - length, "\t%s\t%lu", second, two);
    snprintf(line + length, sizeof line - length, "\n");
    append(notes, line);
}

static void note_length(const char *kind, int fd) {
    char line[96];
    struct stat about;
    if (fstat(fd, &about)) return;
    snprintf(line, sizeof line, "%s\t%lu\t%ld\n", kind, (unsigned long)about.st_ino,
             (long)about.st_size);
    append(notes, line);
}

static long opened(int dir, const char *name, int flags, int mode) {
    char path[LONGEST];
    long done = -1;
    if (!place(dir, name, path)) {
        done = syscall(SYS_openat, dir, name, flags, mode);
        return done < 0 ? -(long)errno : done;
    }
    lock();
    int why = fault("open"), is_new = (flags & O_CREAT) && !inode(path);
    if (!why) done = syscall(SYS_openat, dir, name, flags, mode);
    long answer = why ? -why : done < 0 ? -(long)errno : done;
    if (answer >= 0 && is_new) note_names(path, 0);
    if (answer >= 0 && (flags & O_TRUNC)) note_length("cut", (int)answer);
    unlock();
    return answer;
}

static long renamed(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
    char old[LONGEST], new[LONGEST];
    int is_ours = place(from_dir, from, old);
    if (!place(to_dir, to, new) || !is_ours)
        return RAW(SYS_renameat2, from_dir, from, to_dir, to, flags);
    lock();
    long done = -fault("rename");
    if (!done) {
        if (!flags) keep(new);
        done = RAW(SYS_renameat2, from_dir, from, to_dir, to, flags);
        if (!done) note_names(old, new);
    }
    unlock();
    return done;
}

static long linked(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    char path[LONGEST];
    if (!place(to_dir, to, path)) return RAW(SYS_linkat, from_dir, from, to_dir, to, flags);
    lock();
    long done = -fault("link");
    if (!done) done = RAW(SYS_linkat, from_dir, from, to_dir, to, flags);
    if (!done) note_names(path, 0);
    unlock();
    return done;
}

static long unlinked(int dir, const char *name, int flags) {
    char path[LONGEST];
    if (!place(dir, name, path)) return RAW(SYS_unlinkat, dir, name, flags);
    lock();
    long done = -fault("unlink");
    if (!done) {
        keep(path);
        done = RAW(SYS_unlinkat, dir, name, flags);
        if (!done) note_names(path, 0);
    }
    unlock();
    return done;
}

static long made(int dir, const char *name, int mode) {
    char path[LONGEST];
    if (!place(dir, name, path)) return RAW(SYS_mkdirat, dir, name, mode);
    lock();
    long done = -fault("mkdir");
    if (!done) done = RAW(SYS_mkdirat, dir, name, mode);
    if (!done) note_names(path, 0);
    unlock();
    return done;
}

static long synced(int fd, long number) {
    char path[LONGEST], line[LONGEST + 16];
    struct stat about;
    if (fstat(fd, &about) || !place_of(fd, path)) return RAW(number, fd);
    int is_folder = S_ISDIR(about.st_mode);
    lock();
    const char *call = is_folder ? "sync_folder" : number == SYS_fsync ? "fsync" : "fdatasync";
    long done = -fault(call);
    if (!done) done = RAW(number, fd);
    if (!done && is_folder) {
        snprintf(line, sizeof line, "folder\t%s\n", path);
        append(notes, line);
    }
    if (!done && !is_folder) note_length("synced", fd);
    unlock();
    return done;
}

static long shortened(int fd, off_t to) {
    char path[LONGEST];
    if (!place_of(fd, path)) return RAW(SYS_ftruncate, fd, to);
    lock();
    long done = -fault("ftruncate");
    if (!done) done = RAW(SYS_ftruncate, fd, to);
    if (!done) note_length("cut", fd);
    unlock();
    return done;
}

static long written(int fd, const void *data, size_t bytes) {
    char path[LONGEST];
    struct stat about;
    int is_ours = !fstat(fd, &about) && S_ISREG(about.st_mode) && place_of(fd, path);
    int why = is_ours ? fault("write") : 0;
    if (why > 0) return -why;
    long done = syscall(SYS_write, fd, data, why && bytes > 1 ? bytes / 2 : bytes);
    return done < 0 ? -(long)errno : done;
}

/* System calls that the program makes itself. */

static const int numbers[] = {SYS_openat,  SYS_renameat,  SYS_renameat2, SYS_linkat,   SYS_unlinkat,
                              SYS_mkdirat, SYS_fsync,     SYS_fdatasync, SYS_ftruncate};
#define NUMBERS (sizeof numbers / sizeof *numbers)

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define ANSWER(at) (at)->gregs[REG_RAX]
#define TAKE(at, a) long a[] = {(at)->gregs[REG_RDI], (at)->gregs[REG_RSI], (at)->gregs[REG_RDX], \
                                (at)->gregs[REG_R10], (at)->gregs[REG_R8]}
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define ANSWER(at) (at)->regs[0]
#define TAKE(at, a) long a[] = {(at)->regs[0], (at)->regs[1], (at)->regs[2], (at)->regs[3], \
                                (at)->regs[4]}
#endif

#ifdef ARCHITECTURE

static void handed_over(int signal, siginfo_t *about, void *context) {
    (void)signal;
    int before = errno;
    mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
    TAKE(at, a);
    long done = -ENOSYS;
    switch (about->si_syscall) {
    case SYS_openat: done = opened(a[0], (char *)a[1], a[2], a[3]); break;
    case SYS_renameat: done = renamed(a[0], (char *)a[1], a[2], (char *)a[3], 0); break;
    case SYS_renameat2: done = renamed(a[0], (char *)a[1], a[2], (char *)a[3], a[4]); break;
    case SYS_linkat: done = linked(a[0], (char *)a[1], a[2], (char *)a[3], a[4]); break;
    case SYS_unlinkat: done = unlinked(a[0], (char *)a[1], a[2]); break;
    case SYS_mkdirat: done = made(a[0], (char *)a[1], a[2]); break;
    case SYS_fsync: case SYS_fdatasync: done = synced(a[0], about->si_syscall); break;
    case SYS_ftruncate: done = shortened(a[0], a[1]); break;
    }
    ANSWER(at) = done;
    errno = before;
}

/* Where the code of the program itself lies; that of libraries and of its children does not. */
static int find_code(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    unsigned long *code = found;
    for (int n = 0; n < info->dlpi_phnum; n++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[n];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        code[0] = info->dlpi_addr + part->p_vaddr;
        code[1] = code[0] + part->p_memsz;
    }
    return 1;
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define FIELD_HIGH(name) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name) + 4)
#define IF(is, value, yes, no) BPF_JUMP(BPF_JMP | BPF_##is | BPF_K, (unsigned)(value), yes, no)
#define END(how) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##how)

static void hand_over(void) {
    unsigned long code[2] = {0, 0};
    dl_iterate_phdr(find_code, code);
    if (!code[0] || code[0] >> 32 != code[1] >> 32) return;
    struct sigaction action = {.sa_sigaction = handed_over, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &action, 0);
    struct sock_filter filter[9 + NUMBERS + 2], *end = filter;
    *end++ = (struct sock_filter)FIELD(arch);
    *end++ = (struct sock_filter)IF(JEQ, ARCHITECTURE, 0, NUMBERS + 6);
    *end++ = (struct sock_filter)FIELD_HIGH(instruction_pointer);
    *end++ = (struct sock_filter)IF(JEQ, code[0] >> 32, 0, NUMBERS + 4);
    *end++ = (struct sock_filter)FIELD(instruction_pointer);
    *end++ = (struct sock_filter)IF(JGE, code[0], 0, NUMBERS + 2);
    *end++ = (struct sock_filter)IF(JGE, code[1], NUMBERS + 1, 0);
    *end++ = (struct sock_filter)FIELD(nr);
    for (size_t n = 0; n < NUMBERS; n++)
        *end++ = (struct sock_filter)IF(JEQ, numbers[n], NUMBERS - n, 0);
    *end++ = (struct sock_filter)END(ALLOW);
    *end++ = (struct sock_filter)END(TRAP);
    struct sock_fprog program = {.len = end - filter, .filter = filter};
    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else
static void hand_over(void) {}
#endif
__attribute__((constructor)) static void begin(void) {
    under = word("FAULT_UNDER"), wanted = word("FAULT_CALL"), what = word("FAULT_WHAT");
    hits = word("FAULT_HIT"), counts = word("FAULT_COUNTS"), kept = word("FAULT_KEPT");
    notes = word("FAULT_NOTES"), nth = atol(word("FAULT_NTH"));
    lasts = *word("FAULT_LASTS") == '1';
    if (*under) hand_over();
}

/* Functions of the C library. */

static long told(long done) {
    if (done >= 0) return done;
    errno = (int)-done;
    return -1;
}

/* Where no mode was given the third argument is read all the same, and not used. */
int open_here(const char *name, int flags, mode_t mode) __asm__("open64");
int open_here(const char *name, int flags, mode_t mode) {
    return (int)told(opened(AT_FDCWD, name, flags, (int)mode));
}
int openat_here(int dir, const char *name, int flags, mode_t mode) __asm__("openat64");
int openat_here(int dir, const char *name, int flags, mode_t mode) {
    return (int)told(opened(dir, name, flags, (int)mode));
}

int rename(const char *a, const char *b) {
    return (int)told(renamed(AT_FDCWD, a, AT_FDCWD, b, 0));
}
int link(const char *a, const char *b) { return (int)told(linked(AT_FDCWD, a, AT_FDCWD, b, 0)); }
int unlink(const char *name) { return (int)told(unlinked(AT_FDCWD, name, 0)); }
int unlinkat(int dir, const char *name, int flags) { return (int)told(unlinked(dir, name, flags)); }
int rmdir(const char *name) { return (int)told(unlinked(AT_FDCWD, name, AT_REMOVEDIR)); }
int mkdir(const char *name, mode_t mode) { return (int)told(made(AT_FDCWD, name, (int)mode)); }
int fsync(int fd) { return (int)told(synced(fd, SYS_fsync)); }
int fdatasync(int fd) { return (int)told(synced(fd, SYS_fdatasync)); }
int ftruncate64(int fd, off_t to) { return (int)told(shortened(fd, to)); }
ssize_t write(int fd, const void *data, size_t bytes) { return told(written(fd, data, bytes)); }
