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
       "Process id of the recorder, when it started (in ticks of the kernel) and the boot it "
       "belongs to: so a reader tells a recording that still runs from one that was cut."},
      {meta::kCommand, "The recorded command line; passwords and tokens on it are `***`."},
      {meta::kArguments,
       "`kept` when command lines and settings are as they were, secrets included "
       "(`--keep-arguments`)."},
      {meta::kWorkingDirectory, "Where it was started."},
      {meta::kName, "What the run was called with `--name`, for `headway history`."},
      {meta::kGitCommit,
       "Commit that was checked out in the Git repository of the working directory; changes that "
       "were "
       "not committed are not told."},
      {meta::kHost, "Host name."},
      {meta::kKernel, "Operating system and version."},
      {meta::kCpu, "Processor model."},
      {meta::kCpuCount, "Processors the program could run on."},
      {meta::kMemoryBytes, "Main memory."},
      {meta::kClock,
       "`realtime`, or `tsc` when the target stamped with the processor's counter and the recorder "
       "converted."},
      {meta::kDurationNs, "Length of the recording."},
      {meta::kExitCode, "Exit code of the recorded command."},
      {meta::kExitSignal, "Signal that ended the recorded command, when one did."},
      {meta::kInterrupted, "`1` when the recording was ended by a signal to the recorder."},
      {meta::kCuda, "State of CUDA collection: `on`, or why it is off."},
      {meta::kOverheadNsPerEvent,
       "Cost of one push or pop to the program, measured at its start on this machine."},
      {meta::kRecorderCpuNs, "Processor time the recorder used."},
      {meta::kRecords, "Records taken from all processes."},
      {meta::kScope,
       "What of the run was chosen to be recorded, in a sentence; absent when all of it was."},
      {meta::kScopeOptions, "The options that chose it."},
      {meta::kScopeWindows, "Stretches of time that were recorded."},
      {meta::kScopeLeftOut,
       "Events outside them, which the recorder saw and did not store. They were not lost."},
      {meta::kScopeProcessesLeftOut, "Processes that were chosen not to be recorded."},
      {meta::kScopeEnded,
       "What ended the recording before the program: `--duration`, `--steps`, or that the file had "
       "reached `--max-size`."},
      {meta::kOverheadNs,
       "Records times their measured cost: what NVTX and calls on files cost the programs in all."},
      {meta::kCudaOverheadNs,
       "What the programs spent on handing over CUPTI's records, measured; CUPTI's own cost not "
       "included."},
      {meta::kSourceFile, "The recording that this file was imported from, as its path was given."},
      {meta::kImportedBy, "Program and version that imported it."},
      {meta::kWorldSize, "Ranks of the distributed run, where the recording tells."},
      {meta::kLauncher,
       "What started the ranks: `torchrun`, `Open MPI`, `MPICH`, `MVAPICH`, `PMIx`, `Slurm`, or "
       "`environment` when only the variables are there."},
      {meta::kRank, "Rank of the recorded program, when the recorder itself was started as one."},
      {meta::kLocalRank, "The same among the ranks of its node."},
      {meta::kLocalWorldSize, "Ranks of the node."},
      {meta::kNode, "Number of the node in the run."},
      {meta::kNodeCount, "Nodes of the run."},
      {meta::kJob, "Name that scheduler or launcher give the run."},
      {meta::kGpuCounters, "State of the GPUs' counters: `on`, or why they are off."},
      {meta::kDistributedBackend, "Backend of the distributed run, e.g. `nccl`."},
      {meta::kDistributedRank, "Rank of the recorded process, when the recording says it."},
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
