// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/inject/futex_lock.h"
#include "collector/inject/segment.h"

namespace headway::inject {

enum class Mode : std::uint32_t {
  kFresh = 0,  ///< not connected yet: at the start, and again in a forked child
  kOn = 1,
  kOff = 2,  ///< no recorder, or something failed: nothing is recorded, for good
};

/// The part of the state that a child must not inherit. It lies in a page that the kernel zeroes in
/// the child of any fork, also of a fork that pthread_atfork does not see (MADV_WIPEONFORK): mode,
/// lock and generation are then as at the start, and no thread state of the parent matches.
struct ForkPage {
  /// Number of the process image in its line of forks; 0: not connected. A thread whose state has
  /// another number must ask for a new state.
  std::atomic<std::uint32_t> generation;
  std::atomic<Mode> mode;
  /// Guards everything that is not on the hot path: connecting, taking rings, definitions.
  FutexLock lock;
  /// The process that owns this image; 0: not known. A child of vfork shares the page but has
  /// another pid.
  std::atomic<std::int32_t> pid;
  /// Reads and writes of files before the process is connected; they decide when it connects.
  std::atomic<std::uint64_t> early_reads;
  std::atomic<std::uint64_t> early_read_bytes;
  std::atomic<std::uint64_t> early_writes;
  std::atomic<std::uint64_t> early_written_bytes;
};

/// Process-wide state: one per process image, never destroyed. Constant-initialised.
struct Process {
  ForkPage* page;                 ///< never null
  Segment segment;                ///< empty until the process is connected
  wire::Clock clock;              ///< the recorder chose it for all processes
  std::uint32_t last_generation;  ///< counts connections of this image; never given twice
  bool event_cost_known;          ///< the first thread that records measures it
};
extern constinit Process g_process;

/// Reads the environment and makes the fork page, once per image. Called from the entry points, on
/// any thread; idempotent. False when this process is not recorded at all.
bool set_up_process();

/// Connects to the recorder if the process is not connected yet; the lock must be held. True when
/// the process is recorded.
bool connect_locked();

/// Called when the recorder takes no more: from here on the process is not recorded. Any thread,
/// any number of times; takes no lock.
void stop_recording();

/// set_up_process() and connect_locked(): what the entry points call. Keeps errno.
bool start_recording();

}  // namespace headway::inject
