/*
 * A preload library that moves the wall clock of one process.
 *
 *     LD_PRELOAD=libskew.so SLUICEGATE_SKEW_FILE=/path/to/offset workerd serve ...
 *
 * The file holds an offset in milliseconds as decimal text ("3600000", "-250", a newline may follow).
 * It is read again while the process runs, at most every 5 ms, so that rewriting it steps the clock.
 * A file that is missing, empty or not a number leaves the offset as it was, 0 at first: an editor or
 * a shell that truncates before it writes does no harm.
 *
 * Only the wall clock moves: CLOCK_REALTIME (and COARSE, ALARM, TAI), gettimeofday, time, timespec_get.
 * The monotonic clocks, timers and file times stay true. No lock, no allocation, and only system calls
 * that are safe in a signal handler: these functions are called from anywhere, and from every thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000LL
#define NS_PER_MS 1000000LL
#define READ_EVERY_NS (5 * NS_PER_MS)

typedef int (*gettime_fn)(clockid_t, struct timespec *);

static _Atomic(gettime_fn) true_gettime;
static _Atomic(const char *) skew_file;
static _Atomic long long offset_ns;
static _Atomic long long read_next_ns;

static int read_true_clock(clockid_t clock, struct timespec *out) {
    gettime_fn function = atomic_load_explicit(&true_gettime, memory_order_acquire);
    /* Before the constructor has run (other constructors read clocks too) the system call will do. */
    return function ? function(clock, out) : (int)syscall(SYS_clock_gettime, clock, out);
}

static void read_offset(const char *path) {
    char text[32];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return;
    long length = syscall(SYS_read, fd, text, sizeof text);
    syscall(SYS_close, fd);

    long at = 0, negative = 0, digits = 0;
    long long ms = 0;
    if (at < length && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
    for (; at < length && text[at] >= '0' && text[at] <= '9' && digits < 13; at++, digits++) ms = ms * 10 + (text[at] - '0');
    if (digits == 0 || (at < length && text[at] != '\n' && text[at] != '\r' && text[at] != ' ')) return;
    if (ms > 9000000000000LL) return; /* would not fit nanoseconds in 64 bits */
    atomic_store_explicit(&offset_ns, (negative ? -ms : ms) * NS_PER_MS, memory_order_release);
}

static long long current_offset_ns(void) {
    const char *path = atomic_load_explicit(&skew_file, memory_order_acquire);
    if (path) {
        struct timespec steady;
        int saved = errno;
        if (read_true_clock(CLOCK_MONOTONIC_COARSE, &steady) == 0) {
            long long now = steady.tv_sec * NS_PER_SECOND + steady.tv_nsec;
            long long due = atomic_load_explicit(&read_next_ns, memory_order_relaxed);
            if (now >= due && atomic_compare_exchange_strong(&read_next_ns, &due, now + READ_EVERY_NS)) read_offset(path);
        }
        errno = saved;
    }
    return atomic_load_explicit(&offset_ns, memory_order_acquire);
}

static void add_offset(struct timespec *time) {
    long long ns = time->tv_sec * NS_PER_SECOND + time->tv_nsec + current_offset_ns();
    if (ns < 0) ns = 0;
    time->tv_sec = ns / NS_PER_SECOND;
    time->tv_nsec = ns % NS_PER_SECOND;
}

__attribute__((constructor)) static void start(void) {
    atomic_store_explicit(&true_gettime, (gettime_fn)dlsym(RTLD_NEXT, "clock_gettime"), memory_order_release);
    const char *path = getenv("SLUICEGATE_SKEW_FILE");
    if (path && *path) {
        read_offset(path);
        atomic_store_explicit(&skew_file, path, memory_order_release);
    }
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    int result = read_true_clock(clock, out);
    if (result != 0) return result;
    switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_REALTIME_ALARM:
        case CLOCK_TAI:
            add_offset(out);
            break;
        default:
            break;
    }
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    if (zone) *(struct timezone *)zone = (struct timezone){0, 0};
    if (read_true_clock(CLOCK_REALTIME, &now) != 0) return -1;
    add_offset(&now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    if (read_true_clock(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
    add_offset(&now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *out, int base) {
    if (base != TIME_UTC || read_true_clock(CLOCK_REALTIME, out) != 0) return 0;
    add_offset(out);
    return base;
}
