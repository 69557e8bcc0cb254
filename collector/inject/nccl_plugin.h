// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// NCCL's profiler interface, version 5 (NCCL 2.28 and later): its binary interface, as far as it is
/// used. NCCL looks up `ncclProfiler_v5` in the library that NCCL_PROFILER_PLUGIN names.
namespace headway::inject::nccl {

inline constexpr int kSuccess = 0;  ///< ncclResult_t

/// Kinds of events, bits of the mask that `init` sets.
inline constexpr std::uint64_t kCollective = 1u << 1;
inline constexpr std::uint64_t kPointToPoint = 1u << 2;

struct Collective {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* dtype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* parent_group;
};

struct PointToPoint {
  const char* function;
  void* buffer;
  const char* dtype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* parent_group;
};

struct EventDescription {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    Collective collective;
    PointToPoint point_to_point;
  };
};
static_assert(offsetof(EventDescription, collective) == 24);
static_assert(offsetof(Collective, count) == 32 && offsetof(Collective, dtype) == 48 &&
              offsetof(Collective, algorithm) == 64 && sizeof(Collective) == 88);
static_assert(offsetof(PointToPoint, count) == 24 && offsetof(PointToPoint, channels) == 36);

struct Profiler {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes,
              int ranks, int rank, void* log);
  int (*start)(void* context, void** handle, EventDescription* description);
  int (*stop)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace headway::inject::nccl
