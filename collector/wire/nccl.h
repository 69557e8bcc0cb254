// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What NCCL tells its profiler plugin about one operation. It is the payload of a mark in the
/// domain of the conventions (common/nvtx_conventions.h); the library registers its schema as a
/// program would.
namespace headway::wire {

inline constexpr const char* kNcclDomain = "headway";
inline constexpr const char* kNcclSchema = "headway.nccl_op";

struct NcclOp {
  std::uint64_t communicator;   ///< hash, the same on all ranks
  std::uint64_t sequence;       ///< of collectives
  std::uint64_t count;          ///< elements of `dtype`
  std::int32_t rank;            ///< of this process in the communicator
  std::int32_t ranks;           ///< of the communicator
  std::int32_t peer;            ///< rank: the root, or the other end of a send or receive
  std::uint32_t is_collective;  ///< 0: send or receive
  std::uint32_t channels;       ///< number that NCCL chose for the operation
  std::uint32_t warps;          ///< per channel
  char function[24];            ///< this and the next texts end with a zero
  char dtype[16];
  char algorithm[16];  ///< "RING", "TREE", …; empty for messages
  char protocol[16];   ///< "LL", "LL128", "SIMPLE"; likewise
};
static_assert(sizeof(NcclOp) == 120);

/// NVTX's numbers of the types used: UINT64, INT32, UINT32, CSTRING.
struct NcclField {
  const char* name;
  std::uint64_t type;
  std::size_t offset;
  std::size_t length;  ///< of texts
};
inline constexpr NcclField kNcclFields[] = {
    {"communicator", 18, offsetof(NcclOp, communicator), 0},
    {"sequence", 18, offsetof(NcclOp, sequence), 0},
    {"count", 18, offsetof(NcclOp, count), 0},
    {"rank", 15, offsetof(NcclOp, rank), 0},
    {"ranks", 15, offsetof(NcclOp, ranks), 0},
    {"peer", 15, offsetof(NcclOp, peer), 0},
    {"is_collective", 16, offsetof(NcclOp, is_collective), 0},
    {"channels", 16, offsetof(NcclOp, channels), 0},
    {"warps", 16, offsetof(NcclOp, warps), 0},
    {"function", 75, offsetof(NcclOp, function), sizeof(NcclOp::function)},
    {"dtype", 75, offsetof(NcclOp, dtype), sizeof(NcclOp::dtype)},
    {"algorithm", 75, offsetof(NcclOp, algorithm), sizeof(NcclOp::algorithm)},
    {"protocol", 75, offsetof(NcclOp, protocol), sizeof(NcclOp::protocol)}};

}  // namespace headway::wire
