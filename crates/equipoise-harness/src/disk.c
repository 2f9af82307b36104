/* Stands between a program and its disk: preloaded, it records what is written to some files and when it is synced, and
 * makes one of these operations fail or be the program's last. Built by the tests with the system's C compiler.
 *
 * HARNESS_MATCH  files whose path holds this text are watched
 * HARNESS_TRACE  where the record goes, if it is wanted; standard output is part of it, as what was acknowledged
 * HARNESS_FAULT  "NUMBER:CODE": the operation of this number, counted from 1, fails with this error number; for the code
 *                "short" half of it is written and the rest finds the disk full; for "kill" the program ends there
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, trace = -1, cut;
static long number, fault_at, fault_code;
static const char *match;

enum { SHORT = -1, KILL = -2 };

typedef ssize_t (*write_type)(int, const void *, size_t);
typedef ssize_t (*pwrite_type)(int, const void *, size_t, off_t);
typedef int (*sync_type)(int);
typedef int (*truncate_type)(int, off_t);
typedef int (*unlink_type)(const char *);

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

static void prepare(void) {
    if (ready) return;
    ready = 1;
    match = getenv("HARNESS_MATCH");
    const char *to = getenv("HARNESS_TRACE"), *fault = getenv("HARNESS_FAULT");
    if (to) trace = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fault) {
        char *end;
        fault_at = strtol(fault, &end, 10);
        if (*end == ':') end++;
        fault_code = !strcmp(end, "short") ? SHORT : !strcmp(end, "kill") ? KILL : atol(end);
    }
}

/* The path behind a descriptor, if it is watched. */
static int watched(int fd, char *path) {
    char link[64];
    if (!match || fd == trace) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return strstr(path, match) != NULL && strstr(path, "-shm") == NULL && strstr(path, ".lock") == NULL;
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
    if (trace < 0) return;
    uint32_t named = strlen(path);
    write_type put = REAL(write_type, "write");
    if (put(trace, &kind, 1) < 0 || put(trace, &named, 4) < 0 || put(trace, path, named) < 0 ||
        put(trace, &offset, 8) < 0 || put(trace, &length, 8) < 0 || (data && put(trace, data, length) < 0))
        abort();
}

/* What is to happen to the next operation: nothing, or a fault. */
static long fate(void) {
    number++;
    if (number != fault_at) return 0;
    if (fault_code == KILL) kill(getpid(), SIGKILL);
    return fault_code;
}

static ssize_t put(int fd, const void *data, size_t length, off_t offset, int placed) {
    char path[PATH_MAX];
    pthread_mutex_lock(&lock);
    prepare();
    ssize_t done;
    if (!watched(fd, path)) {
        if (fd == 1) record('A', "", 0, data, length);
        done = placed ? REAL(pwrite_type, "pwrite64")(fd, data, length, offset)
                      : REAL(write_type, "write")(fd, data, length);
        int kept = errno;
        pthread_mutex_unlock(&lock);
        errno = kept;
        return done;
    }
    if (!placed) offset = lseek(fd, 0, SEEK_CUR);
    long code = cut ? ENOSPC : fate();
    cut = 0;
    if (code > 0) {
        pthread_mutex_unlock(&lock);
        errno = (int)code;
        return -1;
    }
    if (code == SHORT && length > 1) {
        length /= 2;
        cut = 1;
    }
    done = placed ? REAL(pwrite_type, "pwrite64")(fd, data, length, offset)
                  : REAL(write_type, "write")(fd, data, length);
    int kept = errno;
    if (done > 0) record('W', path, (uint64_t)offset, data, (uint64_t)done);
    pthread_mutex_unlock(&lock);
    errno = kept;
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { return put(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return put(fd, data, length, at, 1); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) { return put(fd, data, length, at, 1); }

static int settle(int fd, const char *name) {
    char path[PATH_MAX];
    pthread_mutex_lock(&lock);
    prepare();
    int mine = watched(fd, path);
    long code = mine ? fate() : 0;
    if (code != 0) {
        /* As a kernel does it: what was to be synced is given up. */
        record('F', path, 0, NULL, 0);
        pthread_mutex_unlock(&lock);
        errno = code > 0 ? (int)code : EIO;
        return -1;
    }
    int done = REAL(sync_type, name)(fd), kept = errno;
    if (mine && done == 0) record('S', path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = kept;
    return done;
}

int fsync(int fd) { return settle(fd, "fsync"); }
int fdatasync(int fd) { return settle(fd, "fdatasync"); }

static int shorten(int fd, off_t length, const char *name) {
    char path[PATH_MAX];
    pthread_mutex_lock(&lock);
    prepare();
    int mine = watched(fd, path);
    long code = mine ? fate() : 0;
    if (code != 0) {
        pthread_mutex_unlock(&lock);
        errno = code > 0 ? (int)code : EIO;
        return -1;
    }
    int done = REAL(truncate_type, name)(fd, length), kept = errno;
    if (mine && done == 0) record('T', path, (uint64_t)length, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = kept;
    return done;
}

int ftruncate(int fd, off_t length) { return shorten(fd, length, "ftruncate"); }
int ftruncate64(int fd, off_t length) { return shorten(fd, length, "ftruncate64"); }

int unlink(const char *path) {
    pthread_mutex_lock(&lock);
    prepare();
    int mine = match && strstr(path, match) && !strstr(path, "-shm") && !strstr(path, ".lock");
    long code = mine ? fate() : 0;
    if (code != 0) {
        pthread_mutex_unlock(&lock);
        errno = code > 0 ? (int)code : EIO;
        return -1;
    }
    int done = REAL(unlink_type, "unlink")(path), kept = errno;
    if (mine && done == 0) record('U', path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = kept;
    return done;
}
