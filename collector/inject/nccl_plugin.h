// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of NCCL's profiler interface, version 5 (NCCL 2.28 and later), that Headway uses: its
/// binary interface. NCCL looks up `ncclProfiler_v5` in the library that NCCL_PROFILER_PLUGIN names.
namespace headway::inject::nccl {

inline constexpr int kSuccess = 0;  ///< ncclResult_t

/// Kinds of events, bits of the mask that `init` sets.
inline constexpr std::uint64_t kCollective = 1u << 1;
inline constexpr std::uint64_t kPointToPoint = 1u << 2;

/// What NCCL passes at the start of a collective. Texts are NCCL's, valid during the call only.
struct Collective {
  std::uint64_t sequence;  ///< counts the communicator's collectives
  const char* function;    ///< "AllReduce"
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;      ///< elements that one rank sends
  int root;               ///< rank, for collectives that have a root
  const char* dtype;      ///< "ncclFloat32"
  std::uint8_t channels;  ///< number that NCCL chose
  std::uint8_t warps;     ///< per channel
  const char* algorithm;  ///< "RING"
  const char* protocol;   ///< "SIMPLE"
  void* parent_group;
};

/// What NCCL passes at the start of a send or receive.
struct PointToPoint {
  const char* function;
  void* buffer;
  const char* dtype;
  std::size_t count;
  int peer;  ///< rank at the other end
  std::uint8_t channels;
  void* parent_group;
};

struct EventDescription {
  std::uint64_t type;  ///< kCollective, kPointToPoint, or a kind that `init` did not ask for
  void* parent;        ///< handle that `start` gave for the group; here always null
  int rank;            ///< of this process
  union {
    Collective collective;
    PointToPoint point_to_point;
  };
};
static_assert(offsetof(EventDescription, collective) == 24);
static_assert(offsetof(Collective, count) == 32 && offsetof(Collective, dtype) == 48 &&
              offsetof(Collective, algorithm) == 64 && sizeof(Collective) == 88);
static_assert(offsetof(PointToPoint, count) == 24 && offsetof(PointToPoint, channels) == 36);

/// The table that NCCL looks up; its functions are called on threads of NCCL and of the program.
struct Profiler {
  const char* name;  ///< for NCCL's log
  int (*init)(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes,
              int ranks, int rank, void* log);
  int (*start)(void* context, void** handle, EventDescription* description);
  int (*stop)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace headway::inject::nccl
