// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collector/wire/layout.h"

/// The hand-over, once per process image: the process connects to the SOCK_SEQPACKET socket named
/// by HEADWAY_SESSION, sends Hello with the memfd attached (SCM_RIGHTS), waits for Welcome and
/// closes both descriptors. From then on the two sides share nothing but the mapping.
namespace headway::wire {

inline constexpr const char* kSessionVariable = "HEADWAY_SESSION";
/// "graph": CUDA graphs are recorded as a whole, not node by node.
inline constexpr const char* kCudaGraphVariable = "HEADWAY_CUDA_GRAPH";
/// What else of CUDA is recorded: words with spaces between them, kMemoryWord and so on.
inline constexpr const char* kCudaMoreVariable = "HEADWAY_CUDA_MORE";
inline constexpr const char* kMemoryWord = "memory";            ///< allocations and pools
inline constexpr const char* kLatencyWord = "latency";          ///< when kernels were queued
inline constexpr const char* kPausesWord = "pauses";            ///< pause_activity() may pause it
inline constexpr const char* kEnvironmentWord = "environment";  ///< clocks, temperature, power

/// "1": calls of cudaProfilerStart and cudaProfilerStop are recorded (RecordType::kCapture).
inline constexpr const char* kCudaProfilerVariable = "HEADWAY_CUDA_PROFILER";

/// How long a process waits for the recorder in total, in ms. Only a stopped recorder costs this
/// much, once per process; when the recorder is gone, the connection is refused at once. It is
/// long, because on a machine with a hundred busy processes per core the recorder may run only that
/// late.
inline constexpr int kHelloTimeoutMs = 4000;

/// Why a process has no segment.
enum class Problem : std::uint32_t {
  kNone = 0,
  kMemfd = 1,  ///< memfd_create was refused
  kSize = 2,   ///< no layout fits the limits (RLIMIT_FSIZE, RLIMIT_AS, memory)
  kMap = 3,    ///< mmap was refused
};

/// The first message of a process. Plain bytes: both sides come from one build, which `version`
/// checks.
struct Hello {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t layout = 0;        ///< index into kLayouts
  std::uint32_t problem = 0;       ///< a Problem; if not kNone, there is no descriptor
  std::int32_t problem_errno = 0;  ///< errno of `problem`
};

/// The recorder's answer. A process that does not get it within kHelloTimeoutMs runs unrecorded.
struct Welcome {
  std::uint64_t magic = kMagic;
  std::uint32_t accepted = 0;  ///< 0: the process switches its recording off
  std::uint32_t clock = 0;     ///< the Clock that the process uses
};

}  // namespace headway::wire
