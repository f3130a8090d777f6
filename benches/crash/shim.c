/* Loaded before the C library: makes one call on a file below FAULT_UNDER fail, be short, or be the
 * last thing the process does, and notes what was synced.
 *
 * FAULT_CALL   name of the calls that count: write, fsync, fdatasync, ftruncate, or any
 * FAULT_NTH    which of them, from 1; 0: none
 * FAULT_WHAT   kill, EIO, ENOSPC, short
 * FAULT_LASTS  1: every later one too
 * FAULT_HIT    file that is made when it happens
 * FAULT_SYNCS  file that gets a line "INODE LENGTH" for each sync that succeeded
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long seen;

static const char *word(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int is_ours(int fd, struct stat *about) {
    char link[64], path[4096];
    const char *under = word("FAULT_UNDER");
    if (!*under || fstat(fd, about) || !S_ISREG(about->st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, sizeof path - 1);
    if (got < 0) return 0;
    path[got] = 0;
    return !strncmp(path, under, strlen(under));
}

static void append(const char *file, const char *text) {
    int out = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0) return;
    syscall(SYS_write, out, text, strlen(text));
    close(out);
}

/* 0: goes on; else the error number, or -1 for a short write. */
static int fault(int fd, const char *call) {
    struct stat about;
    const char *wanted = word("FAULT_CALL"), *what = word("FAULT_WHAT");
    long nth = atol(word("FAULT_NTH"));
    if (!nth || (strcmp(wanted, call) && strcmp(wanted, "any")) || !is_ours(fd, &about)) return 0;
    long now = atomic_fetch_add(&seen, 1) + 1;
    if (now != nth && !(*word("FAULT_LASTS") == '1' && now > nth)) return 0;
    append(word("FAULT_HIT"), call);
    if (!strcmp(what, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(what, "short")) return !strcmp(call, "write") ? -1 : EIO;
    return !strcmp(what, "ENOSPC") ? ENOSPC : EIO;
}

static int synced(int fd, const char *call, int (*real)(int)) {
    struct stat about;
    char line[64];
    int why = fault(fd, call);
    if (why) {
        errno = why;
        return -1;
    }
    int is_noted = *word("FAULT_SYNCS") && is_ours(fd, &about);
    int done = real(fd);
    if (!done && is_noted) {
        snprintf(line, sizeof line, "%lu %ld\n", (unsigned long)about.st_ino, (long)about.st_size);
        append(word("FAULT_SYNCS"), line);
    }
    return done;
}

#define REAL(name) (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

int fsync(int fd) { return synced(fd, "fsync", REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, "fdatasync", REAL(fdatasync)); }

ssize_t write(int fd, const void *data, size_t bytes) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = REAL(write);
    int why = fault(fd, "write");
    if (why > 0) {
        errno = why;
        return -1;
    }
    return real(fd, data, why && bytes > 1 ? bytes / 2 : bytes);
}

int ftruncate64(int fd, off64_t to) {
    int why = fault(fd, "ftruncate");
    if (why > 0) {
        errno = why;
        return -1;
    }
    return (REAL(ftruncate64))(fd, to);
}
