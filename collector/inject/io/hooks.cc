// SPDX-License-Identifier: MIT
// Functions of the C library that programs find here instead. Each calls the function that it hides,
// with the same arguments, and returns its result.
//
// Not seen: calls inside the C library (getc, fscanf, stdio's flushes outside of fwrite), page
// faults of mappings, io_uring, and programs that make system calls without a C library.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>

#include "collector/inject/io/calls.h"
#include "collector/inject/io/next.h"

#define HEADWAY_HOOK extern "C" __attribute__((visibility("default")))

using headway::inject::io::begin;
using headway::inject::io::closed;
using headway::inject::io::closing;
using headway::inject::io::finish;
using headway::inject::io::is_tracked;
using headway::inject::io::is_watched;
using headway::inject::io::next;
using headway::inject::io::opened;
using Function = headway::wire::IoFunction;
using Op = headway::wire::IoOp;
namespace io = headway::inject::io;

// ---- open ----------------------------------------------------------------------------------------

namespace {

std::uint64_t begin_if_enabled() {
  return io::g_enabled ? begin() : 0;
}

/// Null for a temporary file (O_TMPFILE): it has no path, its argument is a folder.
const char* path_given(const char* path, int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE ? nullptr : path;
}

void open_done(Function function, int fd, std::uint64_t start, const char* path, int flags) {
  opened(function, fd, start, path_given(path, flags), static_cast<unsigned>(flags));
}

bool takes_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

#define HEADWAY_OPEN(name, signature, arguments)                       \
  HEADWAY_HOOK int name signature {                                    \
    mode_t mode = 0;                                                   \
    if (takes_mode(flags)) {                                           \
      va_list list;                                                    \
      va_start(list, flags);                                           \
      mode = va_arg(list, mode_t);                                     \
      va_end(list);                                                    \
    }                                                                  \
    std::uint64_t start = begin_if_enabled();                          \
    int result = next<int(*) signature>(Function::k_##name) arguments; \
    open_done(Function::k_##name, result, start, path, flags);         \
    return result;                                                     \
  }
HEADWAY_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
HEADWAY_OPEN(open64, (const char* path, int flags, ...), (path, flags, mode))
HEADWAY_OPEN(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
HEADWAY_OPEN(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

#define HEADWAY_OPEN_PLAIN(name, signature, arguments, flags)          \
  HEADWAY_HOOK int name signature {                                    \
    std::uint64_t start = begin_if_enabled();                          \
    int result = next<int(*) signature>(Function::k_##name) arguments; \
    open_done(Function::k_##name, result, start, path, flags);         \
    return result;                                                     \
  }
HEADWAY_OPEN_PLAIN(__open_2, (const char* path, int flags), (path, flags), flags)
HEADWAY_OPEN_PLAIN(__open64_2, (const char* path, int flags), (path, flags), flags)
HEADWAY_OPEN_PLAIN(__openat_2, (int folder, const char* path, int flags), (folder, path, flags),
                   flags)
HEADWAY_OPEN_PLAIN(__openat64_2, (int folder, const char* path, int flags), (folder, path, flags),
                   flags)
HEADWAY_OPEN_PLAIN(creat, (const char* path, mode_t mode), (path, mode),
                   O_CREAT | O_WRONLY | O_TRUNC)
HEADWAY_OPEN_PLAIN(creat64, (const char* path, mode_t mode), (path, mode),
                   O_CREAT | O_WRONLY | O_TRUNC)

#define HEADWAY_FOPEN(name)                                                                   \
  HEADWAY_HOOK FILE* name(const char* path, const char* mode) {                               \
    std::uint64_t start = begin_if_enabled();                                                 \
    FILE* result = next<FILE* (*)(const char*, const char*)>(Function::k_##name)(path, mode); \
    if (result) opened(Function::k_##name, ::fileno(result), start, path, 0);                 \
    return result;                                                                            \
  }
HEADWAY_FOPEN(fopen)
HEADWAY_FOPEN(fopen64)

#define HEADWAY_FREOPEN(name)                                                                   \
  HEADWAY_HOOK FILE* name(const char* path, const char* mode, FILE* file) {                     \
    int before = file->_fileno;                                                                 \
    if (is_tracked(before)) closing(before);                                                    \
    std::uint64_t start = begin_if_enabled();                                                   \
    FILE* result =                                                                              \
        next<FILE* (*)(const char*, const char*, FILE*)>(Function::k_##name)(path, mode, file); \
    if (result) opened(Function::k_##name, ::fileno(result), start, path, 0);                   \
    return result;                                                                              \
  }
HEADWAY_FREOPEN(freopen)
HEADWAY_FREOPEN(freopen64)

// ---- close ---------------------------------------------------------------------------------------

namespace {

template <class Call>
int timed_close(Function function, int fd, Call call) {
  if (!is_tracked(fd)) return call();
  io::Descriptor word = io::g_descriptors[fd].load(std::memory_order_relaxed);
  if (!closing(fd)) return call();
  std::uint64_t start = begin();
  int result = call();
  if (start != 0) closed(function, fd, word, start, result);
  return result;
}

}  // namespace

HEADWAY_HOOK int close(int fd) {
  return timed_close(Function::k_close, fd,
                     [&] { return next<int (*)(int)>(Function::k_close)(fd); });
}

HEADWAY_HOOK int fclose(FILE* file) {
  return timed_close(Function::k_fclose, file->_fileno,
                     [&] { return next<int (*)(FILE*)>(Function::k_fclose)(file); });
}

HEADWAY_HOOK int dup2(int from, int to) noexcept {
  if (from != to && is_tracked(to)) closing(to);
  return next<int (*)(int, int)>(Function::k_dup2)(from, to);
}

HEADWAY_HOOK int dup3(int from, int to, int flags) noexcept {
  if (from != to && is_tracked(to)) closing(to);
  return next<int (*)(int, int, int)>(Function::k_dup3)(from, to, flags);
}

HEADWAY_HOOK int close_range(unsigned first, unsigned last, int flags) noexcept {
  io::forget(first, last);
  return next<int (*)(unsigned, unsigned, int)>(Function::k_close_range)(first, last, flags);
}

HEADWAY_HOOK void closefrom(int first) noexcept {
  io::forget(first < 0 ? 0 : static_cast<unsigned>(first), UINT32_MAX);
  next<void (*)(int)>(Function::k_closefrom)(first);
}

// ---- read and write ------------------------------------------------------------------------------

#define HEADWAY_TRANSFER(op, name, signature, arguments, fd, offset) \
  HEADWAY_HOOK ssize_t name signature {                              \
    auto* call = next<ssize_t(*) signature>(Function::k_##name);     \
    if (!is_watched(fd)) return call arguments;                      \
    std::uint64_t start = begin();                                   \
    ssize_t result = call arguments;                                 \
    finish(Function::k_##name, op, fd, start, result, offset);       \
    return result;                                                   \
  }
HEADWAY_TRANSFER(Op::kRead, read, (int fd, void* data, size_t bytes), (fd, data, bytes), fd, -1)
HEADWAY_TRANSFER(Op::kRead, __read_chk, (int fd, void* data, size_t bytes, size_t room),
                 (fd, data, bytes, room), fd, -1)
HEADWAY_TRANSFER(Op::kRead, pread, (int fd, void* data, size_t bytes, off_t at),
                 (fd, data, bytes, at), fd, at)
HEADWAY_TRANSFER(Op::kRead, pread64, (int fd, void* data, size_t bytes, off64_t at),
                 (fd, data, bytes, at), fd, at)
HEADWAY_TRANSFER(Op::kRead, __pread_chk, (int fd, void* data, size_t bytes, off_t at, size_t room),
                 (fd, data, bytes, at, room), fd, at)
HEADWAY_TRANSFER(Op::kRead, __pread64_chk,
                 (int fd, void* data, size_t bytes, off64_t at, size_t room),
                 (fd, data, bytes, at, room), fd, at)
HEADWAY_TRANSFER(Op::kRead, readv, (int fd, const iovec* parts, int count), (fd, parts, count), fd,
                 -1)
HEADWAY_TRANSFER(Op::kRead, preadv, (int fd, const iovec* parts, int count, off_t at),
                 (fd, parts, count, at), fd, at)
HEADWAY_TRANSFER(Op::kRead, preadv64, (int fd, const iovec* parts, int count, off64_t at),
                 (fd, parts, count, at), fd, at)
HEADWAY_TRANSFER(Op::kRead, preadv2, (int fd, const iovec* parts, int count, off_t at, int flags),
                 (fd, parts, count, at, flags), fd, at)
HEADWAY_TRANSFER(Op::kRead, preadv64v2,
                 (int fd, const iovec* parts, int count, off64_t at, int flags),
                 (fd, parts, count, at, flags), fd, at)
HEADWAY_TRANSFER(Op::kRead, sendfile, (int out, int in, off_t* at, size_t bytes) noexcept,
                 (out, in, at, bytes), in, -1)
HEADWAY_TRANSFER(Op::kRead, sendfile64, (int out, int in, off64_t* at, size_t bytes) noexcept,
                 (out, in, at, bytes), in, -1)
HEADWAY_TRANSFER(Op::kRead, copy_file_range,
                 (int in, off64_t* from, int out, off64_t* to, size_t bytes, unsigned flags),
                 (in, from, out, to, bytes, flags), in, -1)
HEADWAY_TRANSFER(Op::kWrite, write, (int fd, const void* data, size_t bytes), (fd, data, bytes), fd,
                 -1)
HEADWAY_TRANSFER(Op::kWrite, pwrite, (int fd, const void* data, size_t bytes, off_t at),
                 (fd, data, bytes, at), fd, at)
HEADWAY_TRANSFER(Op::kWrite, pwrite64, (int fd, const void* data, size_t bytes, off64_t at),
                 (fd, data, bytes, at), fd, at)
HEADWAY_TRANSFER(Op::kWrite, writev, (int fd, const iovec* parts, int count), (fd, parts, count),
                 fd, -1)
HEADWAY_TRANSFER(Op::kWrite, pwritev, (int fd, const iovec* parts, int count, off_t at),
                 (fd, parts, count, at), fd, at)
HEADWAY_TRANSFER(Op::kWrite, pwritev64, (int fd, const iovec* parts, int count, off64_t at),
                 (fd, parts, count, at), fd, at)
HEADWAY_TRANSFER(Op::kWrite, pwritev2, (int fd, const iovec* parts, int count, off_t at, int flags),
                 (fd, parts, count, at, flags), fd, at)
HEADWAY_TRANSFER(Op::kWrite, pwritev64v2,
                 (int fd, const iovec* parts, int count, off64_t at, int flags),
                 (fd, parts, count, at, flags), fd, at)

#define HEADWAY_SYNC(name)                                    \
  HEADWAY_HOOK int name(int fd) {                             \
    auto* call = next<int (*)(int)>(Function::k_##name);      \
    if (!is_watched(fd)) return call(fd);                     \
    std::uint64_t start = begin();                            \
    int result = call(fd);                                    \
    finish(Function::k_##name, Op::kSync, fd, start, result); \
    return result;                                            \
  }
HEADWAY_SYNC(fsync)
HEADWAY_SYNC(fdatasync)

#define HEADWAY_MAP(name)                                                                       \
  HEADWAY_HOOK void* name(void* at, size_t bytes, int protection, int flags, int fd,            \
                          off_t offset) noexcept {                                              \
    auto* call = next<void* (*)(void*, size_t, int, int, int, off_t)>(Function::k_##name);      \
    if (fd < 0 || (flags & MAP_ANONYMOUS) || !is_watched(fd))                                   \
      return call(at, bytes, protection, flags, fd, offset);                                    \
    std::uint64_t start = begin();                                                              \
    void* result = call(at, bytes, protection, flags, fd, offset);                              \
    if (result != MAP_FAILED)                                                                   \
      finish(Function::k_##name, Op::kMap, fd, start, static_cast<std::int64_t>(bytes), offset, \
             static_cast<unsigned>(protection));                                                \
    return result;                                                                              \
  }
HEADWAY_MAP(mmap)
HEADWAY_MAP(mmap64)

// ---- stdio ---------------------------------------------------------------------------------------
// Only calls that go beyond the stream's buffer are I/O; the buffer's pointers show whether one
// will.

namespace {

std::uint64_t product(size_t size, size_t count) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(size, count, &bytes) ? UINT64_MAX : bytes;
}

bool reads_file(const FILE* file, std::uint64_t bytes) {
  return bytes > static_cast<std::uint64_t>(file->_IO_read_end - file->_IO_read_ptr) &&
         is_watched(file->_fileno);
}

bool writes_file(const FILE* file, std::uint64_t bytes) {
  return (file->_IO_write_end < file->_IO_write_ptr ||
          bytes > static_cast<std::uint64_t>(file->_IO_write_end - file->_IO_write_ptr)) &&
         is_watched(file->_fileno);
}

/// Reading a line may or may not refill the buffer: the stamp is taken before the call, and the
/// buffer is compared after it.
class LineRead {
 public:
  explicit LineRead(const FILE* file)
      : file_(file),
        watched_(is_watched(file->_fileno)),
        start_(watched_ ? begin() : 0),
        at_(file->_IO_read_ptr),
        end_(file->_IO_read_end) {}
  void done(Function function) const {
    if (!watched_ || (file_->_IO_read_end == end_ && file_->_IO_read_ptr >= at_)) return;
    std::int64_t bytes = file_->_IO_read_end - file_->_IO_read_base;
    if (bytes > 0) finish(function, Op::kRead, file_->_fileno, start_, bytes);
  }

 private:
  const FILE* file_;
  bool watched_;
  std::uint64_t start_;
  const char* at_;
  const char* end_;
};

}  // namespace

#define HEADWAY_STREAM(op, may, name, signature, arguments)      \
  HEADWAY_HOOK size_t name signature {                           \
    auto* call = next<size_t(*) signature>(Function::k_##name);  \
    if (!may(file, product(size, count))) return call arguments; \
    std::uint64_t start = begin();                               \
    size_t result = call arguments;                              \
    finish(Function::k_##name, op, file->_fileno, start,         \
           static_cast<std::int64_t>(product(size, result)));    \
    return result;                                               \
  }
HEADWAY_STREAM(Op::kRead, reads_file, fread, (void* data, size_t size, size_t count, FILE* file),
               (data, size, count, file))
HEADWAY_STREAM(Op::kRead, reads_file, fread_unlocked,
               (void* data, size_t size, size_t count, FILE* file), (data, size, count, file))
HEADWAY_STREAM(Op::kRead, reads_file, __fread_chk,
               (void* data, size_t room, size_t size, size_t count, FILE* file),
               (data, room, size, count, file))
HEADWAY_STREAM(Op::kWrite, writes_file, fwrite,
               (const void* data, size_t size, size_t count, FILE* file), (data, size, count, file))
HEADWAY_STREAM(Op::kWrite, writes_file, fwrite_unlocked,
               (const void* data, size_t size, size_t count, FILE* file), (data, size, count, file))

#define HEADWAY_LINE(type, name, signature, arguments)                   \
  HEADWAY_HOOK type name signature {                                     \
    LineRead line(file);                                                 \
    type result = next<type(*) signature>(Function::k_##name) arguments; \
    line.done(Function::k_##name);                                       \
    return result;                                                       \
  }
HEADWAY_LINE(char*, fgets, (char* text, int room, FILE* file), (text, room, file))
HEADWAY_LINE(char*, __fgets_chk, (char* text, size_t size, int room, FILE* file),
             (text, size, room, file))
HEADWAY_LINE(ssize_t, getline, (char** text, size_t* room, FILE* file), (text, room, file))
HEADWAY_LINE(ssize_t, getdelim, (char** text, size_t* room, int end, FILE* file),
             (text, room, end, file))
HEADWAY_LINE(ssize_t, __getdelim, (char** text, size_t* room, int end, FILE* file),
             (text, room, end, file))

// ---- the end -------------------------------------------------------------------------------------
// Loader workers end by _exit, which runs no destructor.

#define HEADWAY_EXIT(name)                                       \
  HEADWAY_HOOK __attribute__((noreturn)) void name(int status) { \
    io::flush_sums();                                            \
    next<void (*)(int)>(Function::k_##name)(status);             \
    __builtin_unreachable();                                     \
  }
HEADWAY_EXIT(_exit)
HEADWAY_EXIT(_Exit)
