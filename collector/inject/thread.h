// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/inject/process.h"
#include "collector/inject/ring_writer.h"

namespace headway::inject {

/// Push/pop nesting of one domain on one thread.
struct DomainStack {
  std::uint32_t depth;    ///< recorded pushes that are not popped yet
  std::uint32_t skipped;  ///< dropped pushes above those: their pops are dropped too
};

inline constexpr std::uint32_t kMaxDomains = 4096;  ///< further ones become the default domain
/// The stacks of the first domains, this many, lie in the thread's state itself.
inline constexpr std::uint32_t kNearDomains = 16;

/// What a thread needs to record. There is one for each ring, reused together with the ring.
struct alignas(64) ThreadState {
  std::uint32_t generation;  ///< ForkPage::generation when it was made; 0: free
  std::uint32_t slot;        ///< number of the ring
  wire::Clock clock;         ///< copy of the process's, to save a cache line
  std::uint32_t
      open;  ///< recorded pushes of all domains, not popped yet: room is kept for their pops
  RingWriter ring;
  std::uint64_t ranges;  ///< start/end ranges begun with this state; not reset when it is reused
  DomainStack near[kNearDomains];
  DomainStack* far;  ///< domains from kNearDomains on; mapped on first use

  /// The stack of a domain; null when there is no memory for it.
  DomainStack* stack(std::uint16_t domain) {
    if (domain < kNearDomains) [[likely]]
      return &near[domain];
    return far_stack(domain);
  }
  DomainStack* far_stack(std::uint16_t domain);
  /// Counts a dropped event. Also ends the recording of this process when the recorder has closed
  /// the segment: a full ring is then never emptied again.
  void count_dropped() { count_in(ring.control().dropped); }
  /// Counts the end of a range whose beginning was dropped.
  void count_dropped_end() { count_in(ring.control().dropped_ends); }

 private:
  void count_in(std::atomic<std::uint64_t>& counter) {
    add_own(counter);
    const Segment& segment = g_process.segment;
    if (segment && segment.header().closed.load(std::memory_order_relaxed)) [[unlikely]]
      stop_recording();
  }
};

/// All thread-local storage of the library. It is small, because all libraries that are loaded late
/// share the 1664 bytes that the C library keeps for them.
struct EntryState {
  ThreadState* thread;        ///< null until the thread has recorded something
  std::uint32_t busy;         ///< 1 inside an entry point
  std::uint32_t skip_attach;  ///< events to drop before asking for a ring again
};
extern constinit thread_local EntryState t_entry __attribute__((tls_model("initial-exec")));

/// Whether an event of this thread may be recorded now. Every event makes only this one test, so
/// any further reason not to record belongs here. When it is false, attach_thread() finds out what
/// to do.
inline bool may_record(const ThreadState& state) {
  return state.generation == g_process.page->generation.load(std::memory_order_relaxed);
}

/// The scope of one NVTX call. Converts to false when the call comes from a signal handler that
/// interrupted another NVTX call on this thread: the caller must then do nothing (the call is
/// counted).
class Entry {
 public:
  enum class Call : std::uint8_t { kEvent, kEnd };  ///< kEnd: an event that only ends another one

  Entry() : entered_(t_entry.busy == 0) {
    if (entered_) [[likely]] {
      t_entry.busy = 1;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      count_reentrant();
    }
  }
  ~Entry() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (entered_) [[likely]]
      t_entry.busy = 0;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  explicit operator bool() const { return entered_; }

  /// This thread's state, with a ring; null when nothing can be recorded. A loss is counted once
  /// per event, so not by the call that ends a range.
  ThreadState* thread(Call call = Call::kEvent) const {
    if (!entered_) [[unlikely]]
      return nullptr;
    ThreadState* state = t_entry.thread;
    if (state && may_record(*state)) [[likely]]
      return state;
    return attach_thread(call);
  }

 private:
  [[gnu::cold]] static void count_reentrant();
  [[gnu::cold]] static ThreadState* attach_thread(Call call);
  bool entered_;
};

/// Called with the state of a thread that ends, before its last record; null: nothing is called.
using AtThreadEnd = void (*)(ThreadState&);
extern constinit AtThreadEnd g_at_thread_end;

/// Once per process image, before any event. False when the system refuses.
bool set_up_threads();
/// Frees all rings; called in a forked child before it connects. The lock must be held.
void forget_threads();

}  // namespace headway::inject
