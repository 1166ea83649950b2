/* Preloaded into a test: from the n-th write on, to files whose path contains a text, the disk is full.
 *
 * proctor_arm(n, once, path) starts to count; n counts from 1. once: only the n-th write fails.
 * proctor_writes() returns how many were counted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long countdown = -1, counted = 0;
static int only_once = 0;
static char needle[256];

void proctor_arm(long n, int once, const char *path) {
    counted = 0;
    only_once = once;
    strncpy(needle, path, sizeof needle - 1);
    countdown = n;
}

long proctor_writes(void) { return counted; }

static int fails(int fd) {
    char link[64], path[4096];
    if (countdown < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (!strstr(path, needle)) return 0;
    long number = __sync_add_and_fetch(&counted, 1);
    return only_once ? number == countdown : number >= countdown;
}

#define WRAP(type, name, parameters, arguments, error)                          \
    type name parameters {                                                      \
        static type(*real) parameters;                                          \
        if (!real) real = dlsym(RTLD_NEXT, #name);                              \
        if (fails(fd)) { errno = error; return -1; }                            \
        return real arguments;                                                  \
    }

WRAP(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size), ENOSPC)
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), ENOSPC)
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), ENOSPC)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), ENOSPC)
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size), ENOSPC)
WRAP(int, fsync, (int fd), (fd), EIO)
WRAP(int, fdatasync, (int fd), (fd), EIO)
