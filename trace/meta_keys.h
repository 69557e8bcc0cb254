// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headway::trace {

/// Version of the file format. A reader accepts every version up to its own and refuses a newer
/// one. 1: first.
inline constexpr std::int64_t kSchemaVersion = 1;

/// Keys of HEADWAY_META, declared once; docs/reference/meta.md is made from `meta_keys()`.
namespace meta {
inline constexpr std::string_view kSchemaVersionKey = "schema_version";
inline constexpr std::string_view kToolVersion = "tool_version";
inline constexpr std::string_view kProducer = "producer";
inline constexpr std::string_view kState = "state";
inline constexpr std::string_view kRecorder = "recorder";
/// Never stored: "1" in a trace that was loaded while its recorder ran.
inline constexpr std::string_view kLive = "live";
inline constexpr std::string_view kCommand = "command";
/// With the value kArgumentsKept, secrets on command lines are stored unmasked.
inline constexpr std::string_view kArguments = "arguments";
inline constexpr std::string_view kArgumentsKept = "kept";
inline constexpr std::string_view kWorkingDirectory = "working_directory";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kGitCommit = "git_commit";
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kKernel = "kernel";
inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kCpuCount = "cpu_count";
inline constexpr std::string_view kMemoryBytes = "memory_bytes";
inline constexpr std::string_view kClock = "clock";
inline constexpr std::string_view kDurationNs = "duration_ns";
inline constexpr std::string_view kExitCode = "exit_code";
inline constexpr std::string_view kExitSignal = "exit_signal";
inline constexpr std::string_view kInterrupted = "interrupted";
inline constexpr std::string_view kCuda = "cuda";
inline constexpr std::string_view kOverheadNsPerEvent = "overhead_ns_per_event";
inline constexpr std::string_view kRecorderCpuNs = "recorder_cpu_ns";
inline constexpr std::string_view kRecords = "records";
inline constexpr std::string_view kScope = "scope";
inline constexpr std::string_view kScopeOptions = "scope.options";
inline constexpr std::string_view kScopeWindows = "scope.windows";
inline constexpr std::string_view kScopeLeftOut = "scope.events_left_out";
inline constexpr std::string_view kScopeProcessesLeftOut = "scope.processes_left_out";
inline constexpr std::string_view kScopeEnded = "scope.ended";
inline constexpr std::string_view kSourceFile = "source_file";
inline constexpr std::string_view kImportedBy = "imported_by";
inline constexpr std::string_view kWorldSize = "world_size";
inline constexpr std::string_view kLauncher = "launcher";
inline constexpr std::string_view kRank = "rank";
inline constexpr std::string_view kLocalRank = "local_rank";
inline constexpr std::string_view kLocalWorldSize = "local_world_size";
inline constexpr std::string_view kNode = "node";
inline constexpr std::string_view kNodeCount = "node_count";
inline constexpr std::string_view kJob = "job";
inline constexpr std::string_view kGpuCounters = "gpu_counters";
inline constexpr std::string_view kOverheadNs = "overhead_ns";
inline constexpr std::string_view kCudaOverheadNs = "cuda_overhead_ns";
/// Keys of recordings of PyTorch's profiler.
inline constexpr std::string_view kDistributedBackend = "distributed.backend";
inline constexpr std::string_view kDistributedRank = "distributed.rank";
inline constexpr std::string_view kDistributedWorldSize = "distributed.world_size";
/// The members of a process group are stored as "process_group.<name>".
inline constexpr std::string_view kProcessGroupPrefix = "process_group.";
/// Values that the profiler wrote about itself are stored as "kineto.<key>".
inline constexpr std::string_view kKinetoPrefix = "kineto.";
/// Environment variables that explain a run are stored as "env.<NAME>".
inline constexpr std::string_view kEnvironmentPrefix = "env.";
}  // namespace meta

struct MetaKey {
  std::string_view key;
  std::string_view doc;
};
std::span<const MetaKey> meta_keys();

}  // namespace headway::trace
