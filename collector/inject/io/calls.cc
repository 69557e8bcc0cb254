// SPDX-License-Identifier: MIT
#include "collector/inject/io/calls.h"

#include <unistd.h>

#include <cerrno>

#include "collector/inject/io/next.h"
#include "collector/inject/io/sums.h"
#include "collector/inject/thread.h"

namespace headway::inject::io {

constinit bool g_enabled = false;

namespace {

// A process that has made only short reads and writes connects after this many.
constexpr std::uint64_t kEarlyCalls = 64;

/// False in a child of vfork, which runs in its parent's memory.
bool is_own_image() {
  std::atomic<std::int32_t>& known = g_process.page->pid;
  std::int32_t pid = ::getpid();
  if (known.load(std::memory_order_relaxed) == 0) known.store(pid, std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed) == pid;
}

void put_early(ThreadState& thread, IoOp op, IoFunction function, std::atomic<std::uint64_t>& calls,
               std::atomic<std::uint64_t>& bytes) {
  IoEvent event;
  event.op = op;
  event.function = function;
  event.start = event.end = now(thread.clock);
  event.calls = static_cast<std::uint32_t>(calls.exchange(0));
  event.bytes = bytes.exchange(0);
  if (event.calls > 0 && !put(thread, event)) thread.count_dropped();
}

/// A read or write in a process that is not connected. It connects at its first long read or write,
/// or after kEarlyCalls short ones. The many helper processes of a run (shells, environment shims)
/// never get there.
void early(IoFunction function, IoOp op, int fd, std::int64_t result) {
  ForkPage& page = *g_process.page;
  if (result <= 0 || (op != IoOp::kRead && op != IoOp::kWrite) ||
      page.mode.load(std::memory_order_relaxed) == Mode::kOff)
    return;
  Entry entry;
  if (!entry) return;
  bool read = op == IoOp::kRead;
  Descriptor word = g_descriptors[fd].load(std::memory_order_relaxed);
  if (state_of(word) == kUnknown) word = look_at(fd, read);
  if (state_of(word) == kIgnored) return;
  std::uint64_t calls = (read ? page.early_reads : page.early_writes).fetch_add(1) + 1;
  (read ? page.early_read_bytes : page.early_written_bytes)
      .fetch_add(static_cast<std::uint64_t>(result));
  if (static_cast<std::uint64_t>(result) < wire::kSmallIoBytes && calls < kEarlyCalls) return;
  int saved = errno;
  if (is_own_image()) {
    if (ThreadState* thread = entry.thread()) {
      put_early(*thread, IoOp::kRead, function, page.early_reads, page.early_read_bytes);
      put_early(*thread, IoOp::kWrite, function, page.early_writes, page.early_written_bytes);
    }
  }
  errno = saved;
}

/// This thread's state, or null when it has none: the caller's record is not worth taking a ring.
ThreadState* attached() {
  ThreadState* thread = t_entry.thread;
  return thread && may_record(*thread) ? thread : nullptr;
}

}  // namespace

void count_beyond_table() {
  if (is_on()) g_process.segment.header().io_not_followed.fetch_add(1, std::memory_order_relaxed);
}

namespace {

/// For a call on a descriptor that has no path yet, on a thread without a ring, a mapping, or a call
/// that failed.
[[gnu::cold, gnu::noinline]] void finish_slowly(const Entry& entry, IoEvent& event,
                                                std::int64_t result) {
  if (result < 0) event.error = static_cast<std::uint16_t>(errno);
  Descriptor word = g_descriptors[event.fd].load(std::memory_order_relaxed);
  if (state_of(word) != kNamed) {
    if (state_of(word) != kIgnored) word = name(event.fd, nullptr);
    if (state_of(word) != kNamed) return;
  }
  if (event.op == IoOp::kMap && (word & kInMemory)) return;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  event.bytes = result < 0 ? 0 : static_cast<std::uint64_t>(result);
  event.path = path_of(word);
  if (is_short(event)) {
    add_to_sum(*thread, event);
  } else if (!put(*thread, event)) {
    thread->count_dropped();
  }
}

}  // namespace

void finish(IoFunction function, IoOp op, int fd, std::uint64_t start, std::int64_t result,
            std::int64_t offset, std::uint64_t detail) {
  if (start == 0) [[unlikely]]
    return early(function, op, fd, result);
  std::uint64_t end = now(g_process.clock);
  Entry entry;
  if (!entry) [[unlikely]]
    return;
  IoEvent event;
  event.start = start;
  event.end = end;
  event.offset = offset;
  event.detail = detail;
  event.fd = fd;
  event.op = op;
  event.function = function;
  Descriptor word = g_descriptors[fd].load(std::memory_order_relaxed);
  ThreadState* thread = t_entry.thread;
  bool known =
      state_of(word) == kNamed && result >= 0 && op != IoOp::kMap && thread && may_record(*thread);
  if (!known) [[unlikely]]
    return finish_slowly(entry, event, result);
  event.bytes = static_cast<std::uint64_t>(result);
  event.path = path_of(word);
  if (is_short(event)) {
    if (!extend_sum(*thread, event)) add_to_sum(*thread, event);
  } else if (!put(*thread, event)) {
    thread->count_dropped();
  }
}

void opened(IoFunction function, int fd, std::uint64_t start, const char* path,
            std::uint64_t flags) {
  if (fd < 0 || !is_tracked(fd)) return;
  g_descriptors[fd].store(kUnknown, std::memory_order_relaxed);
  if (start == 0 || !is_on()) return;
  IoEvent event;
  event.end = now(g_process.clock);
  Entry entry;
  if (!entry || !is_own_image()) return;
  Descriptor word = name(fd, path);
  if (state_of(word) != kNamed) return;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  event.start = start;
  event.path = path_of(word);
  event.fd = fd;
  event.op = IoOp::kOpen;
  event.function = function;
  event.detail = flags;
  if (!put(*thread, event)) thread->count_dropped();
}

bool closing(int fd) {
  Descriptor word = g_descriptors[fd].load(std::memory_order_relaxed);
  if (word == kUnknown) return false;
  g_descriptors[fd].store(kUnknown, std::memory_order_relaxed);
  if (state_of(word) != kNamed || !is_on()) return false;
  Entry entry;
  if (!entry) return false;
  if (ThreadState* thread = attached()) write_sums(*thread, fd);
  return true;
}

void closed(IoFunction function, int fd, Descriptor word, std::uint64_t start, int result) {
  IoEvent event;
  event.end = now(g_process.clock);
  // Only a slow close, which writes data back, or a failed one is recorded.
  if (result == 0 && event.end - start < stamps_of_us(kSlowUs)) return;
  if (result != 0) event.error = static_cast<std::uint16_t>(errno);
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return;
  event.start = start;
  event.path = path_of(word);
  event.fd = fd;
  event.op = IoOp::kClose;
  event.function = function;
  if (!put(*thread, event)) thread->count_dropped();
}

void flush_sums() {
  if (!g_enabled || !is_on()) return;
  Entry entry;
  if (!entry) return;
  if (ThreadState* thread = attached()) write_sums(*thread);
}

namespace {

__attribute__((constructor)) void set_up() {
  // The functions are looked up now, where it is safe: the first call may come from a signal
  // handler, or after a fork while another thread held the loader's lock.
  for (std::size_t i = 0; i < wire::kIoFunctionCount; ++i) look_up(static_cast<IoFunction>(i));
  if (!set_up_process()) return;
  start_rate();
  g_at_thread_end = [](ThreadState& thread) { write_sums(thread); };
  g_enabled = true;
}

__attribute__((destructor)) void end() {
  flush_sums();
}

}  // namespace

}  // namespace headway::inject::io
