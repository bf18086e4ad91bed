/* What a failing disk, a full one and a power cut do to a program: preloaded in front of the C library.

   FAULT_PATH  faults hit calls on files whose path holds this text
   FAULT_ON    "read", "open", or "change" (write, fsync, rename, link, unlink, mkdir, rmdir, truncate, chown, chmod)
   FAULT_FROM  the n-th such call (1 is the first); reads: from this offset of the file on
   FAULT_DO    an errno (0: the file ends at that offset), or a signal with a minus in front that the program sends itself (-9: it is killed).
               A full disk (ENOSPC) stays full, and things can be removed from it; all else happens once
   FAULT_LOG   a file that gets a byte for each such call, so that a first run tells how many there are */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int matches(const char *path) {
    const char *wanted = getenv("FAULT_PATH");
    return wanted && path && strstr(path, wanted) != NULL;
}

static int path_of(int fd, int at, const char *name, char *path, size_t size) {
    char link[64];
    if (name && name[0] == '/') { snprintf(path, size, "%s", name); return 1; }
    if (at == AT_FDCWD && name) {
        if (!getcwd(path, size)) return 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", name ? at : fd);
        ssize_t got = readlink(link, path, size - 1);
        if (got < 0) return 0;
        path[got] = 0;
    }
    if (name) { size_t had = strlen(path); snprintf(path + had, size - had, "/%s", name); }
    return 1;
}

static long from(void) { const char *text = getenv("FAULT_FROM"); return text ? atol(text) : 1; }
static int wanted(const char *on) { const char *text = getenv("FAULT_ON"); return text && !strcmp(text, on); }

static int strike(void) {
    int what = atoi(getenv("FAULT_DO"));
    if (what < 0) { kill(getpid(), -what); return 0; }
    errno = what;
    return 1;
}

static int hit(long seen, int removing) {
    const char *what = getenv("FAULT_DO");
    if (!what) return 0;
    if (atoi(what) == ENOSPC) return seen >= from() && !removing && strike();
    return seen == from() && strike();
}

static int happens(const char *on, int fd, int at, const char *name, int removing) {
    static long seen = 0;
    char path[8192];
    if (!wanted(on) || !path_of(fd, at, name, path, sizeof path) || !matches(path)) return 0;
    const char *log = getenv("FAULT_LOG");
    if (log) {
        int out = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (out >= 0) { syscall(SYS_write, out, ".", 1); close(out); }
    }
    return hit(++seen, removing);
}

static int change(int fd, int at, const char *name) { return happens("change", fd, at, name, 0); }
static int removal(int at, const char *name) { return happens("change", -1, at, name, 1); }

/* What is left of a read: all of it, -1 for an error, or what lies in front of where the file seems to end. */
static ssize_t reading(int fd, off_t at, size_t size) {
    char path[8192];
    if (!wanted("read") || !path_of(fd, 0, NULL, path, sizeof path) || !matches(path)) return size;
    if (at + (off_t) size <= from()) return size;
    if (atoi(getenv("FAULT_DO"))) { strike(); return -1; }
    return at < from() ? from() - at : 0;
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)

ssize_t read(int fd, void *to, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    ssize_t left = reading(fd, lseek(fd, 0, SEEK_CUR), size);
    return left < 0 ? -1 : real(fd, to, left);
}
ssize_t pread64(int fd, void *to, size_t size, off64_t at) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
    ssize_t left = reading(fd, at, size);
    return left < 0 ? -1 : real(fd, to, left, at);
}
ssize_t pread(int fd, void *to, size_t size, off_t at) { return pread64(fd, to, size, at); }
ssize_t preadv64(int fd, const struct iovec *to, int count, off64_t at) {
    REAL(ssize_t, "preadv64", int, const struct iovec *, int, off64_t);
    struct iovec first = to[0];
    if (count != 1) return real(fd, to, count, at);
    ssize_t left = reading(fd, at, first.iov_len);
    first.iov_len = left;
    return left < 0 ? -1 : real(fd, &first, 1, at);
}
ssize_t preadv(int fd, const struct iovec *to, int count, off_t at) { return preadv64(fd, to, count, at); }
ssize_t preadv64v2(int fd, const struct iovec *to, int count, off64_t at, int flags) { return preadv64(fd, to, count, at); }
ssize_t preadv2(int fd, const struct iovec *to, int count, off_t at, int flags) { return preadv64(fd, to, count, at); }
ssize_t write(int fd, const void *what, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return change(fd, 0, NULL) ? -1 : real(fd, what, size);
}
int fsync(int fd) {
    REAL(int, "fsync", int);
    return change(fd, 0, NULL) ? -1 : real(fd);
}
int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    return change(fd, 0, NULL) ? -1 : real(fd);
}
int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    return change(fd, 0, NULL) ? -1 : real(fd, size);
}
int fchown(int fd, uid_t user, gid_t group) {
    REAL(int, "fchown", int, uid_t, gid_t);
    return change(fd, 0, NULL) ? -1 : real(fd, user, group);
}
int fchmod(int fd, mode_t mode) {
    REAL(int, "fchmod", int, mode_t);
    return change(fd, 0, NULL) ? -1 : real(fd, mode);
}
int rename(const char *from_name, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return change(-1, AT_FDCWD, from_name) ? -1 : real(from_name, to);
}
int renameat(int a, const char *from_name, int b, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    return change(-1, a, from_name) ? -1 : real(a, from_name, b, to);
}
int link(const char *of, const char *name) {
    REAL(int, "link", const char *, const char *);
    return change(-1, AT_FDCWD, name) ? -1 : real(of, name);
}
int linkat(int a, const char *of, int b, const char *name, int flags) {
    REAL(int, "linkat", int, const char *, int, const char *, int);
    return change(-1, b, name) ? -1 : real(a, of, b, name, flags);
}
int unlink(const char *name) {
    REAL(int, "unlink", const char *);
    return removal(AT_FDCWD, name) ? -1 : real(name);
}
int unlinkat(int at, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    return removal(at, name) ? -1 : real(at, name, flags);
}
int mkdir(const char *name, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return change(-1, AT_FDCWD, name) ? -1 : real(name, mode);
}
int mkdirat(int at, const char *name, mode_t mode) {
    REAL(int, "mkdirat", int, const char *, mode_t);
    return change(-1, at, name) ? -1 : real(at, name, mode);
}
int rmdir(const char *name) {
    REAL(int, "rmdir", const char *);
    return removal(AT_FDCWD, name) ? -1 : real(name);
}

static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; }
#define MODE mode_t mode; va_list more; va_start(more, flags); mode = mode_of(flags, more); va_end(more)

int open(const char *name, int flags, ...) {
    MODE;
    REAL(int, "open", const char *, int, ...);
    return happens("open", -1, AT_FDCWD, name, 0) ? -1 : real(name, flags, mode);
}
int open64(const char *name, int flags, ...) {
    MODE;
    REAL(int, "open64", const char *, int, ...);
    return happens("open", -1, AT_FDCWD, name, 0) ? -1 : real(name, flags, mode);
}
int openat(int at, const char *name, int flags, ...) {
    MODE;
    REAL(int, "openat", int, const char *, int, ...);
    return happens("open", -1, at, name, 0) ? -1 : real(at, name, flags, mode);
}
int openat64(int at, const char *name, int flags, ...) {
    MODE;
    REAL(int, "openat64", int, const char *, int, ...);
    return happens("open", -1, at, name, 0) ? -1 : real(at, name, flags, mode);
}
