// SPDX-License-Identifier: MIT
#include "collector/inject/thread.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/inject/event.h"

namespace headway::inject {

constinit thread_local EntryState t_entry __attribute__((tls_model("initial-exec"))) = {};

constinit AtThreadEnd g_at_thread_end = nullptr;

namespace {

// One state per ring. In .bss: pages that no thread uses take no memory.
constinit ThreadState g_threads[wire::kMaxRings] = {};
constinit bool g_populated[wire::kMaxRings] = {};
constinit pthread_key_t g_exit_key = 0;

constexpr std::size_t kFarBytes = (kMaxDomains - kNearDomains) * sizeof(DomainStack);
// A thread that finds no ring asks again after this many events: rings become free when threads
// end.
constexpr std::uint32_t kRetryAfter = 1024;

/// Runs when a thread ends; also a second time, when another destructor of the program records an
/// event after ours ran and so took a ring again.
void release_thread(void* argument) {
  auto* state = static_cast<ThreadState*>(argument);
  Entry entry;
  if (!entry) return;
  if (state->generation == g_process.page->generation.load(std::memory_order_relaxed)) {
    if (g_at_thread_end) g_at_thread_end(*state);
    if (state->ring.has_room(std::uint64_t{state->open} + 1)) {
      state->ring.put(now(state->clock),
                      {RecordWords::make_head(wire::RecordType::kThreadEnd), 0, 0});
      state->ring.commit(1);
    }
    Locked locked(g_process.page->lock);
    state->generation = 0;
  }
  t_entry.thread = nullptr;
}

bool take_ring(std::uint32_t slot) {
  const Segment& segment = g_process.segment;
  wire::RingPlace place = wire::ring_place(*segment.layout, slot);
  std::byte* data = segment.base + place.offset;
  if (!g_populated[slot] && !populate(segment, data, place.units * wire::kUnit)) return false;
  g_populated[slot] = true;
  ThreadState& state = g_threads[slot];
  state.ring = RingWriter(data, place.units, segment.control(slot));
  // A ring that its last thread left full has room for ends only.
  return state.ring.has_room(1 + 2 * std::uint64_t{wire::kEndReserve});
}

/// A free ring with memory behind it; null when there is none. The lock must be held.
ThreadState* find_state() {
  std::uint32_t count = wire::ring_count(*g_process.segment.layout);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if (g_threads[slot].generation != 0 || !take_ring(slot)) continue;
    std::atomic<std::uint32_t>& used = g_process.segment.header().rings_used;
    if (used.load(std::memory_order_relaxed) <= slot) used.store(slot + 1);
    g_threads[slot].slot = slot;
    return &g_threads[slot];
  }
  return nullptr;
}

void begin(ThreadState& state) {
  state.clock = g_process.clock;
  state.open = 0;
  std::memset(state.near, 0, sizeof state.near);
  if (state.far) ::madvise(state.far, kFarBytes, MADV_DONTNEED);
  if (!g_process.event_cost_known) {
    g_process.segment.header().event_cost_ps = measure_event_cost_ps(state);
    g_process.event_cost_known = true;
  }
  // This system call takes 170 ns, so only this record carries the thread id.
  auto tid = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  state.ring.put(now(state.clock),
                 {RecordWords::make_head(wire::RecordType::kThreadBegin), 0, tid});
  state.ring.commit(1);
  state.generation = g_process.page->generation.load(std::memory_order_relaxed);
}

}  // namespace

DomainStack* ThreadState::far_stack(std::uint16_t domain) {
  if (!far) {
    int saved = errno;
    void* memory = ::mmap(nullptr, kFarBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    errno = saved;
    if (memory == MAP_FAILED) return nullptr;
    far = static_cast<DomainStack*>(memory);
  }
  return &far[domain - kNearDomains];
}

void Entry::count_reentrant() {
  if (g_process.page->mode.load(std::memory_order_relaxed) != Mode::kOn) return;
  g_process.segment.header().reentrant_events.fetch_add(1, std::memory_order_relaxed);
}

ThreadState* Entry::attach_thread(Call call) {
  ForkPage& page = *g_process.page;
  if (page.mode.load(std::memory_order_relaxed) == Mode::kOff) return nullptr;
  int saved = errno;
  ThreadState* state = nullptr;
  if (t_entry.skip_attach > 0 && page.mode.load(std::memory_order_relaxed) == Mode::kOn) {
    --t_entry.skip_attach;
  } else {
    Locked locked(page.lock);
    if (connect_locked()) {
      state = find_state();
      if (state) begin(*state);
    }
  }
  if (page.mode.load(std::memory_order_relaxed) == Mode::kOn) {
    if (state) {
      t_entry.skip_attach = 0;
      ::pthread_setspecific(g_exit_key, state);
    } else {
      if (t_entry.skip_attach == 0) t_entry.skip_attach = kRetryAfter;
      if (call == Call::kEvent)
        g_process.segment.header().events_without_ring.fetch_add(1, std::memory_order_relaxed);
    }
  }
  t_entry.thread = state;
  errno = saved;
  return state;
}

bool set_up_threads() {
  return ::pthread_key_create(&g_exit_key, release_thread) == 0;
}

void forget_threads() {
  for (std::uint32_t slot = 0; slot < wire::kMaxRings; ++slot) {
    if (!g_populated[slot]) continue;  // never used: its state has no page yet
    g_threads[slot].generation = 0;
    g_populated[slot] = false;
  }
}

}  // namespace headway::inject
