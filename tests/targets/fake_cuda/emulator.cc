// SPDX-License-Identifier: MIT
#include "tests/targets/fake_cuda/emulator.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/targets/fake_cuda/run_kernel.h"

namespace emulator {

Index thread_index, block_index, block_extent, grid_extent;

namespace {

constexpr unsigned kWarp = 32;
constexpr std::size_t kStackBytes = 64 << 10;

enum class State { kReady, kAtWarp, kAtBlock, kEnded };

/// A copy into shared memory that has begun; `group` were closed before.
struct Copy {
  void* to;
  const void* from;
  unsigned bytes;
  bool there;
  unsigned group;
};

/// Begun as a ucontext; later changes are jumps, which make no system call.
struct Fiber {
  ucontext_t context;
  jmp_buf place;
  bool begun = false;
  State state = State::kReady;
  std::uint64_t left = 0;  // for other lanes
  std::vector<Copy> copies;
  unsigned closed = 0;  // groups of copies
};

const Kernel* g_first = nullptr;
std::vector<Fiber> g_fibers;
char* g_stacks = nullptr;
ucontext_t g_begin;
jmp_buf g_scheduler;
unsigned g_current = 0;
const Kernel* g_kernel = nullptr;
const void* g_parameters = nullptr;
char* g_shared_end = nullptr;
std::size_t g_shared_bytes = 0;

void run_thread() {
  g_kernel->run(g_parameters);
  g_fibers[g_current].state = State::kEnded;
  _longjmp(g_scheduler, 1);
}

void change(State to) {
  Fiber& self = g_fibers[g_current];
  self.state = to;
  if (_setjmp(self.place) == 0) _longjmp(g_scheduler, 1);
}

void begin_thread(Fiber& fiber, char* stack) {
  fiber.state = State::kReady;
  fiber.begun = false;
  fiber.copies.clear();
  fiber.closed = 0;
  getcontext(&fiber.context);
  fiber.context.uc_stack = {stack, 0, kStackBytes};
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run_thread, 0);
}

void begin_block() {
  for (unsigned i = 0; i < block_extent.x; ++i)
    begin_thread(g_fibers[i], g_stacks + i * kStackBytes);
  if (g_shared_bytes > 0) std::memset(g_shared_end - g_shared_bytes, 0xFF, g_shared_bytes);
}

void resume(unsigned thread) {
  g_current = thread;
  thread_index = {thread, 0, 0};
  Fiber& fiber = g_fibers[thread];
  if (_setjmp(g_scheduler) != 0) return;
  if (fiber.begun) _longjmp(fiber.place, 1);
  fiber.begun = true;
  swapcontext(&g_begin, &fiber.context);
}

/// Runs the threads of a warp until none can go on; true when all have ended.
bool run_warp(unsigned first, bool backwards) {
  const unsigned end = std::min(first + kWarp, block_extent.x);
  for (;;) {
    for (unsigned k = first; k < end; ++k) {
      const unsigned i = backwards ? end - 1 - (k - first) : k;
      if (g_fibers[i].state == State::kReady) resume(i);
    }
    unsigned waiting = 0;
    unsigned ended = 0;
    for (unsigned i = first; i < end; ++i) {
      waiting += g_fibers[i].state == State::kAtWarp;
      ended += g_fibers[i].state == State::kEnded;
    }
    if (ended == end - first) return true;
    if (waiting == 0) return false;
    if (waiting != kWarp) stop("a warp's operation is not reached by all 32 lanes");
    for (unsigned i = first; i < end; ++i) g_fibers[i].state = State::kReady;
  }
}

/// Threads take their turns in one order in one block and in the other in the next, so that a missing
/// barrier shows.
void run_block(bool backwards) {
  begin_block();
  for (;;) {
    bool ended = true;
    const unsigned warps = (block_extent.x + kWarp - 1) / kWarp;
    for (unsigned k = 0; k < warps; ++k)
      ended &= run_warp((backwards ? warps - 1 - k : k) * kWarp, backwards);
    if (ended) return;
    for (unsigned i = 0; i < block_extent.x; ++i) {
      // Threads that have ended count as waiting, as they do since Volta.
      if (g_fibers[i].state == State::kAtBlock) g_fibers[i].state = State::kReady;
    }
  }
}

}  // namespace

Kernel::Kernel(const char* its_name, unsigned its_threads, std::size_t bytes,
               void (*its_run)(const void*))
    : name(its_name), threads(its_threads), parameter_bytes(bytes), run(its_run), next(g_first) {
  g_first = this;
}

void stop(const char* why) {
  std::fprintf(stderr, "emulated kernel %s, block %u,%u thread %u: %s\n", g_kernel->name,
               block_index.x, block_index.y, g_current, why);
  std::abort();
}

unsigned char* launched_shared() {
  return reinterpret_cast<unsigned char*>(g_shared_end - g_shared_bytes);
}

/// Until the copy is waited for, whoever reads there reads NaN.
void copy_async(void* to, const void* from, unsigned bytes, bool there) {
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % bytes != 0)
    stop("an asynchronous copy's addresses are no multiples of its size");
  std::memset(to, 0xFF, bytes);
  Fiber& self = g_fibers[g_current];
  self.copies.push_back({to, from, bytes, there, self.closed});
}
void close_copies() {
  ++g_fibers[g_current].closed;
}
void wait_for_copies(unsigned newest) {
  Fiber& self = g_fibers[g_current];
  std::erase_if(self.copies, [&](const Copy& copy) {
    if (copy.group + newest >= self.closed) return false;
    if (copy.there)
      std::memcpy(copy.to, copy.from, copy.bytes);
    else
      std::memset(copy.to, 0, copy.bytes);
    return true;
  });
}

void wait_for_block() {
  change(State::kAtBlock);
}
void wait_for_warp() {
  change(State::kAtWarp);
}
unsigned lane() {
  return thread_index.x % kWarp;
}
std::uint64_t exchange(std::uint64_t bits, unsigned other) {
  const unsigned self = g_current;
  g_fibers[self].left = bits;
  wait_for_warp();
  const std::uint64_t got = g_fibers[self / kWarp * kWarp + other % kWarp].left;
  wait_for_warp();
  return got;
}
unsigned ballot(bool vote) {
  const unsigned self = g_current;
  g_fibers[self].left = vote;
  wait_for_warp();
  unsigned all = 0;
  for (unsigned i = 0; i < kWarp; ++i)
    all |= static_cast<unsigned>(g_fibers[self / kWarp * kWarp + i].left) << i;
  wait_for_warp();
  return all;
}

const Kernel* find_kernel(const char* name) {
  for (const Kernel* kernel = g_first; kernel; kernel = kernel->next)
    if (std::strcmp(kernel->name, name) == 0) return kernel;
  return nullptr;
}

void run_kernel(const Kernel& kernel, const Extent& grid, unsigned threads,
                std::size_t shared_bytes, const void* parameters) {
  if (!g_stacks) {
    constexpr unsigned kMost = 1024;
    constexpr std::size_t kPage = 4096;
    void* shared = ::mmap(nullptr, kMostShared + kPage, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_shared_end = static_cast<char*>(shared) + kMostShared;
    ::mprotect(g_shared_end, kPage, PROT_NONE);
    g_fibers.resize(kMost);
    void* stacks = ::mmap(nullptr, kMost * kStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_stacks = static_cast<char*>(stacks);
  }
  g_kernel = &kernel;
  g_parameters = parameters;
  g_shared_bytes = shared_bytes;
  block_extent = {threads, 1, 1};
  grid_extent = {grid.x, grid.y, grid.z};
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index = {x, y, z};
        run_block((x + y + z) % 2 == 1);
      }
}

}  // namespace emulator
