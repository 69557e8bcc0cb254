// SPDX-License-Identifier: MIT
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdint>

#include "common/nvtx_conventions.h"

namespace headway::pytorch {

/// The payload of this module's ranges: the fields of conventions::RangePayload and autograd's
/// sequence number, which a backward op shares with its forward op.
struct RangePayload : conventions::RangePayload {
  std::int64_t sequence = conventions::kAbsent;

  RangePayload() = default;
  RangePayload(conventions::RangeKind its_kind, conventions::Phase its_phase,
               std::int64_t its_batch = conventions::kAbsent) {
    kind = static_cast<std::uint32_t>(its_kind);
    phase = static_cast<std::uint32_t>(its_phase);
    batch = its_batch;
  }
};

/// The domain "headway" of this process: ranges and settings of the calling thread. Without a tool
/// all functions do nothing. They never throw, and need no lock except Python's.
class Nvtx {
 public:
  /// Registers the domain and the schemas, which loads the tool. False when there is no tool.
  static bool start();
  static nvtxStringHandle_t intern(const char* text);
  /// Opens a range. Returns the number of ranges that were open before.
  static std::int32_t push(nvtxStringHandle_t name, const RangePayload& payload);
  /// The same for a step or an evaluation, which only contain other ranges: those say what the thread does.
  static std::int32_t push_container(nvtxStringHandle_t name, const RangePayload& payload);
  static void pop();
  static void pop_to(std::int32_t count);
  /// Ends a range with a payload that says what it was.
  static void pop(const RangePayload& payload);
  static void mark_setting(const char* name, const char* value);
  /// Marks a sample: the thread has had this stack for `time_us`.
  static void mark_sample(nvtxStringHandle_t stack, std::int64_t time_us);
  /// Pauses or resumes the recording of CUDA. True when that changed the state; see headway_pause_cuda of the
  /// tool.
  static bool pause_cuda(bool pause);
  static void name_this_thread(const char* name);
};

/// State of the calling thread. A plain struct, so that a thread costs nothing at its start and end.
struct Thread {
  std::int32_t open = 0;             ///< ranges pushed and not popped
  std::int32_t containers = 0;       ///< how many of these, the outermost, are containers (steps)
  std::int32_t module_depth = 0;     ///< module calls entered and not left
  std::uint32_t phase = 0;           ///< of outermost module calls: a Phase or a constant below
  std::int64_t outermost_calls = 0;  ///< number of outermost module calls so far
  void* outermost = nullptr;         ///< the module of the outermost call; borrowed
  std::uint32_t fork = 0;            ///< value of forks() when the fields above were counted
};
inline constexpr std::uint32_t kPhaseByGradMode = 0;
/// The ranges around the call say it, for example those of a backward pass that recomputes.
inline constexpr std::uint32_t kPhaseFromOutside = 100;
/// The calling thread's state. It is reset in a forked child, where the ranges of the parent are not
/// open.
Thread& this_thread();
/// To be called in each forked child.
void forked();
std::uint32_t forks();
/// The number of backward passes that run now, in all threads. Only with Python's lock held.
int backward_passes();
void add_backward_pass(int change);

}  // namespace headway::pytorch
