// SPDX-License-Identifier: MIT
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdint>

#include "common/nvtx_conventions.h"

namespace headway::pytorch {

/// What this module puts on a range: the fields of conventions::RangePayload and autograd's number,
/// which a backward op shares with its forward op.
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

/// The domain "headway" of this process: ranges and settings of the thread that calls. Without a tool
/// everything here does nothing. Never throws; needs no lock of its own beyond Python's.
class Nvtx {
 public:
  /// Registers domain and schemas, which loads the tool. False: no tool listens.
  static bool start();
  static nvtxStringHandle_t intern(const char* text);
  /// Gives back how many ranges were open before.
  static std::int32_t push(nvtxStringHandle_t name, const RangePayload& payload);
  /// The same of a step or an evaluation, which hold whatever the program does; other ranges say what that is.
  static std::int32_t push_container(nvtxStringHandle_t name, const RangePayload& payload);
  static void pop();
  static void pop_to(std::int32_t count);
  /// Ends a range and says only now what it was.
  static void pop(const RangePayload& payload);
  static void mark_setting(const char* name, const char* value);
  /// Here the thread is, by its stack, for that long.
  static void mark_sample(nvtxStringHandle_t stack, std::int64_t time_us);
  /// Whether CUDA is recorded or not changed with it; see headway_pause_cuda of the tool.
  static bool pause_cuda(bool pause);
  static void name_this_thread(const char* name);
};

/// State of the calling thread. Plain, so that a thread costs nothing at its start and end.
struct Thread {
  std::int32_t open = 0;             ///< ranges pushed and not popped
  std::int32_t containers = 0;       ///< the outermost of these that only say when: a step
  std::int32_t module_depth = 0;     ///< module calls entered and not left
  std::uint32_t phase = 0;           ///< of outermost module calls: a Phase, or one of the below
  std::int64_t outermost_calls = 0;  ///< of modules, so far
  void* outermost = nullptr;         ///< borrowed: the module of the outermost call
  std::uint32_t fork = 0;            ///< value of `forks` when the above were counted
};
inline constexpr std::uint32_t kPhaseByGradMode = 0;
/// The ranges around the call tell, for example those of a backward pass that recomputes.
inline constexpr std::uint32_t kPhaseFromOutside = 100;
/// The calling thread's state; begins anew in a process that was forked, where the ranges of the
/// parent are not open.
Thread& this_thread();
/// To be called in each forked child.
void forked();
std::uint32_t forks();
/// Backward passes that run now, in all threads. Only with Python's lock held.
int backward_passes();
void add_backward_pass(int change);

}  // namespace headway::pytorch
