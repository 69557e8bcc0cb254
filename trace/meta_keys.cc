// SPDX-License-Identifier: MIT
#include "trace/meta_keys.h"

#include <array>

namespace headway::trace {

std::span<const MetaKey> meta_keys() {
  static constexpr auto kKeys = std::to_array<MetaKey>({
      {meta::kSchemaVersionKey,
       "Version of the file format, an integer. A reader refuses a newer one."},
      {meta::kToolVersion, "Version of the Headway that wrote the file."},
      {meta::kProducer, "`headway record`, or the program that made the file another way."},
      {meta::kState,
       "`recording` while the recorder runs, `complete` once it has finished in order."},
      {meta::kRecorder,
       "Process id of the recorder, its start time (in kernel ticks) and the boot id: "
       "distinguishes a running recording from a cut one."},
      {meta::kCommand, "The recorded command line; passwords and tokens on it are `***`."},
      {meta::kArguments,
       "`kept` when command lines and settings are unredacted, secrets included "
       "(`--keep-arguments`)."},
      {meta::kWorkingDirectory, "Its working directory."},
      {meta::kName, "Name of the run (`--name`), for `headway history`."},
      {meta::kGitCommit,
       "Commit checked out in the working directory's Git repository; uncommitted changes are not "
       "recorded."},
      {meta::kHost, "Host name."},
      {meta::kKernel, "Operating system and version."},
      {meta::kCpu, "Processor model."},
      {meta::kCpuCount, "Processors available to the program."},
      {meta::kMemoryBytes, "Main memory."},
      {meta::kClock,
       "`realtime`, or `tsc` when the target used the processor counter and the recorder converted "
       "it."},
      {meta::kDurationNs, "Length of the recording."},
      {meta::kExitCode, "Exit code of the recorded command."},
      {meta::kExitSignal, "Signal that ended the recorded command, when one did."},
      {meta::kInterrupted, "`1` when the recording was ended by a signal to the recorder."},
      {meta::kCuda, "State of CUDA collection: `on`, or why it is off."},
      {meta::kOverheadNsPerEvent,
       "Cost of one push or pop to the program, measured at its start on this machine."},
      {meta::kRecorderCpuNs, "Processor time the recorder used."},
      {meta::kRecords, "Records taken from all processes."},
      {meta::kScope, "Recording scope, as a sentence; absent for the whole run."},
      {meta::kScopeOptions, "The options that selected it."},
      {meta::kScopeWindows, "Recorded time windows."},
      {meta::kScopeLeftOut,
       "Events outside them, seen but not stored by the recorder. They were not lost."},
      {meta::kScopeProcessesLeftOut, "Processes excluded from the recording."},
      {meta::kScopeEnded,
       "Reason for ending the recording before the program: `--duration`, `--steps`, or a file at "
       "`--max-size`."},
      {meta::kOverheadNs,
       "Records times their measured cost: total cost of NVTX and file calls to the programs."},
      {meta::kCudaOverheadNs,
       "Measured time that the programs spent on handing over CUPTI's records; excludes CUPTI's "
       "own cost."},
      {meta::kSourceFile,
       "The recording from which this file was imported, with its path as given."},
      {meta::kImportedBy, "Program and version that imported it."},
      {meta::kWorldSize, "Ranks of the distributed run, if recorded."},
      {meta::kLauncher,
       "Launcher of the ranks: `torchrun`, `Open MPI`, `MPICH`, `MVAPICH`, `PMIx`, `Slurm`, or "
       "`environment` if only the variables exist."},
      {meta::kRank, "Rank of the recorded program, if the recorder was started per rank."},
      {meta::kLocalRank, "Rank within its node."},
      {meta::kLocalWorldSize, "Ranks of the node."},
      {meta::kNode, "Number of the node in the run."},
      {meta::kNodeCount, "Nodes of the run."},
      {meta::kJob, "Name of the run from scheduler or launcher."},
      {meta::kGpuCounters, "State of the GPU counters: `on`, or why they are off."},
      {meta::kDistributedBackend, "Backend of the distributed run, e.g. `nccl`."},
      {meta::kDistributedRank, "Rank of the recorded process, if recorded."},
      {meta::kDistributedWorldSize, "Ranks of the distributed run."},
      {meta::kProcessGroupPrefix,
       "Prefix of the process groups of a distributed run; the value lists the members' ranks."},
      {meta::kKinetoPrefix,
       "Prefix of what PyTorch's profiler wrote about itself, e.g. `kineto.record_shapes`."},
      {meta::kEnvironmentPrefix,
       "Prefix of environment variables that explain the run, e.g. `env.OMP_NUM_THREADS`."},
  });
  return kKeys;
}

}  // namespace headway::trace
