// Input and output: the kernel reads and writes the program's buffers, which no instrumentation
// sees. Transfers are recorded as ranges of the calling thread; while it waits, other threads do
// not wait for it.
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/interpose/interpose.h"
#include "capture/interpose/ranges.h"

static void touch_vectors(const struct iovec* v, int n, size_t size, bool write) {
    for (int i = 0; i < n && size > 0; i++) {
        const size_t part = v[i].iov_len < size ? v[i].iov_len : size;
        if (write)
            af_write_range(v[i].iov_base, part);
        else
            af_read_range(v[i].iov_base, part);
        size -= part;
    }
}

// Code around the real call; `done` is its result, `touch` records the memory that it touched.
#define TRANSFER(call, touch)              \
    af_thread* const t = af_heard();       \
    if (t == NULL) return call;            \
    af_block(t);                           \
    const ssize_t done = AF_QUIETLY(call); \
    const int kept = errno;                \
    af_unblock(t);                         \
    if (done > 0) touch;                   \
    errno = kept;                          \
    return done

#define INPUT(name, parameters, arguments, buffer)                               \
    AF_API ssize_t name parameters {                                             \
        TRANSFER(AF_REAL(name) arguments, af_write_range(buffer, (size_t)done)); \
    }
#define OUTPUT(name, parameters, arguments, buffer)                             \
    AF_API ssize_t name parameters {                                            \
        TRANSFER(AF_REAL(name) arguments, af_read_range(buffer, (size_t)done)); \
    }
#define VECTORS(name, parameters, arguments, write)                                  \
    AF_API ssize_t name parameters {                                                 \
        TRANSFER(AF_REAL(name) arguments, touch_vectors(v, n, (size_t)done, write)); \
    }

INPUT(read, (int fd, void* p, size_t size), (fd, p, size), p)
INPUT(pread, (int fd, void* p, size_t size, off_t at), (fd, p, size, at), p)
INPUT(pread64, (int fd, void* p, size_t size, off64_t at), (fd, p, size, at), p)
INPUT(recv, (int fd, void* p, size_t size, int flags), (fd, p, size, flags), p)
INPUT(recvfrom,
      (int fd, void* restrict p, size_t size, int flags, struct sockaddr* restrict from,
       socklen_t* restrict length),
      (fd, p, size, flags, from, length), p)
OUTPUT(write, (int fd, const void* p, size_t size), (fd, p, size), p)
OUTPUT(pwrite, (int fd, const void* p, size_t size, off_t at), (fd, p, size, at), p)
OUTPUT(pwrite64, (int fd, const void* p, size_t size, off64_t at), (fd, p, size, at), p)
OUTPUT(send, (int fd, const void* p, size_t size, int flags), (fd, p, size, flags), p)
OUTPUT(sendto,
       (int fd, const void* p, size_t size, int flags, const struct sockaddr* to, socklen_t length),
       (fd, p, size, flags, to, length), p)
VECTORS(readv, (int fd, const struct iovec* v, int n), (fd, v, n), true)
VECTORS(preadv, (int fd, const struct iovec* v, int n, off_t at), (fd, v, n, at), true)
VECTORS(writev, (int fd, const struct iovec* v, int n), (fd, v, n), false)
VECTORS(pwritev, (int fd, const struct iovec* v, int n, off_t at), (fd, v, n, at), false)

// The C library's own buffering is not seen in a compiled program; in a binary it is.
#ifndef AF_UNDER_PLUGIN
AF_API size_t fread(void* restrict p, size_t size, size_t n, FILE* restrict file) {
    const size_t done = AF_REAL(fread)(p, size, n, file);
    af_write_range(p, done * size);
    return done;
}
AF_API size_t fwrite(const void* restrict p, size_t size, size_t n, FILE* restrict file) {
    af_read_range(p, size * n);
    return AF_REAL(fwrite)(p, size, n, file);
}
#endif
