// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/comm/shm_backend.h"

namespace headway::trainer {
namespace {

std::string_view variable(const char* name) {
  // getenv is safe here: nothing in this program changes the environment while threads run.
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<int> number_in(const char* name) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0)
    fail_usage("{}: '{}' in the environment is not a number.", name, escape_terminal(text));
  return number;
}

/// The letters and digits of the launcher's name of the run.
std::string run_name() {
  std::string name = fmt::format("/headway-train-{}-", ::getuid());
  for (const char* part : {"HEADWAY_TRAIN_RUN", "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT",
                           "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID"})
    for (char c : variable(part))
      if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) name += c;
  return name.substr(0, 200);
}

}  // namespace

std::optional<RankIdentity> identity_from_environment() {
  struct Launcher {
    const char* rank;
    const char* ranks;
    const char* local_rank;
    bool mpi;
  };
  for (const Launcher& launcher :
       {Launcher{"RANK", "WORLD_SIZE", "LOCAL_RANK", false},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", true},
        {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", true}}) {
    const auto rank = number_in(launcher.rank);
    const auto ranks = number_in(launcher.ranks);
    if (!rank || !ranks) continue;
    if (*rank >= *ranks || *ranks < 1)
      fail_usage("The environment says rank {} of {} ({}, {}): ranks count from 0.", *rank, *ranks,
                 launcher.rank, launcher.ranks);
    const int local = number_in(launcher.local_rank).value_or(*rank);
    return RankIdentity{*rank, *ranks, run_name(), launcher.mpi, local};
  }
  return std::nullopt;
}

std::unique_ptr<CommBackend> connect_ranks(const RankIdentity& identity, const Settings& settings) {
  const std::chrono::nanoseconds timeout = comm_timeout(settings);
  const int per_node = static_cast<int>(settings.ranks_per_node);
  // With NCCL, ranks meet through the backend that fits the launcher.
  if (settings.comm != CommKind::kShm && (identity.mpi || settings.comm == CommKind::kMpi)) {
    if (auto backend = connect_mpi(per_node, timeout)) return backend;
    if (settings.comm == CommKind::kMpi)
      fail_usage(
          "comm: this build has no MPI. Configure with -DHEADWAY_MPI=ON (Debian: libopenmpi-dev), "
          "or "
          "use --comm shm on one host.");
  }
  return std::make_unique<ShmBackend>(
      SharedMemory::named(identity.run, identity.rank, identity.ranks, timeout), identity.rank,
      per_node, timeout);
}

LinkModel emulated_links(const Settings& settings) {
  LinkModel links;
  links.ranks_per_node = static_cast<int>(settings.ranks_per_node);
  links.node_bytes_per_s = settings.node_gb_per_s * 1e9;
  links.network_bytes_per_s = settings.network_gb_per_s * 1e9;
  links.network_latency_s = settings.network_us * 1e-6;
  return links;
}

bool emulates_links(const Settings& settings) {
  return settings.node_gb_per_s > 0 || settings.network_gb_per_s > 0 || settings.network_us > 0;
}

std::chrono::nanoseconds comm_timeout(const Settings& settings) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(settings.comm_timeout_s * 1e9));
}

namespace {

void check_sharding(const Settings& s) {
  if (s.device == DeviceKind::kCuda)
    fail_usage(
        "shard_parameters: on GPUs each rank has all parameters. Use --device host or sim, or "
        "--shard-parameters off.");
  if (s.ranks == 1)
    fail_usage("shard_parameters: one rank has nobody to share with. Give --ranks of 2 or more.");
  if (s.compress != Compression::kNone || s.topology != Topology::kFlat || s.accumulate > 1)
    fail_usage(
        "shard_parameters: gradients are reduce-scattered unchanged over all ranks in every step. "
        "Use --compress none, --topology flat and --accumulate 1.");
  if (s.optimizer == OptimizerChoice::kLamb || s.optimizer == OptimizerChoice::kLars)
    fail_usage(
        "shard_parameters: {} needs the norms of whole parameters, and a rank has parts of them. "
        "Use "
        "--optimizer sgd or adam.",
        s.optimizer == OptimizerChoice::kLamb ? "lamb" : "lars");
}

void check_experts(const Settings& s) {
  if (s.model != ModelKind::kTransformer)
    fail_usage("experts: only the transformer has blocks with experts. Use --model transformer.");
  if (s.expert_choices > s.experts)
    fail_usage("expert_choices: a token cannot go to {} of {} experts.", s.expert_choices,
               s.experts);
  if (s.device == DeviceKind::kCuda)
    fail_usage("experts: GPUs have no kernels for them yet. Use --device host or sim.");
  if (!s.expert_parallel) return;
  if (s.ranks == 1) fail_usage("expert_parallel: one rank has all experts. Use --ranks 2 or more.");
  if (s.experts % s.ranks != 0)
    fail_usage("expert_parallel: {} experts cannot be dealt out to {} ranks in equal parts.",
               s.experts, s.ranks);
  if (s.shard_parameters || s.pipeline != PipelineSchedule::kOff || s.accumulate > 1 ||
      s.topology != Topology::kFlat || s.recompute)
    fail_usage(
        "expert_parallel: combines only with data parallelism, one batch per step. Use "
        "--shard-parameters off, --pipeline off, --accumulate 1, --topology flat and --recompute "
        "off.");
  if (s.optimizer == OptimizerChoice::kLamb || s.optimizer == OptimizerChoice::kLars)
    fail_usage(
        "expert_parallel: {} needs the norms of whole parameters, and a rank has parts of them. "
        "Use "
        "--optimizer sgd or adam.",
        s.optimizer == OptimizerChoice::kLamb ? "lamb" : "lars");
  if (s.device != DeviceKind::kSim && s.eval)
    fail_usage("expert_parallel: no rank has the whole model to test. Use --eval off.");
}

void check_tensor_parallel(const Settings& s) {
  if (s.model != ModelKind::kTransformer)
    fail_usage("tensor_parallel: only transformer blocks can be shared. Use --model transformer.");
  if (s.device == DeviceKind::kCuda)
    fail_usage(
        "tensor_parallel: GPUs have no kernels for shared layers yet. Use --device host or sim.");
  if (s.ranks == 1)
    fail_usage("tensor_parallel: one rank has nobody to share with. Give --ranks of 2 or more.");
  if (s.heads % s.ranks != 0)
    fail_usage("tensor_parallel: --heads {} cannot be dealt out to {} ranks in equal parts.",
               s.heads, s.ranks);
  if (s.sequence_parallel && s.batch * s.sequence % s.ranks != 0)
    fail_usage("sequence_parallel: {} tokens cannot be dealt out to {} ranks in equal parts.",
               s.batch * s.sequence, s.ranks);
  if (s.shard_parameters || s.pipeline != PipelineSchedule::kOff || s.experts > 0 ||
      s.accumulate > 1 || s.topology != Topology::kFlat || s.compress != Compression::kNone ||
      s.recompute)
    fail_usage(
        "tensor_parallel: all ranks share one batch a step. Leave --shard-parameters off, "
        "--pipeline off, --experts 0, --accumulate 1, --topology flat, --compress none and "
        "--recompute off.");
  if (s.optimizer == OptimizerChoice::kLamb || s.optimizer == OptimizerChoice::kLars)
    fail_usage(
        "tensor_parallel: {} needs the norms of whole parameters, and a rank has parts of them. "
        "Use --optimizer sgd or adam.",
        s.optimizer == OptimizerChoice::kLamb ? "lamb" : "lars");
  if (s.device != DeviceKind::kSim &&
      (s.precision == Precision::kAmpO1 || s.precision == Precision::kAmpO2))
    fail_usage(
        "tensor_parallel: with loss scaling a rank would skip steps that others take. Use "
        "--precision bf16, tf32 or fp32.");
  if (s.device != DeviceKind::kSim && s.eval)
    fail_usage("tensor_parallel: no rank has the whole model to test. Use --eval off.");
  if (!s.checkpoint.empty())
    fail_usage("tensor_parallel: no rank has the whole model to write. Remove --checkpoint.");
}

void check_pipeline(const Settings& s) {
  if (s.device == DeviceKind::kCuda)
    fail_usage(
        "pipeline: GPUs do not pass messages between stages yet. Use --device host or sim, or "
        "--pipeline off.");
  if (s.ranks == 1)
    fail_usage("pipeline: a pipeline needs several ranks. Use --ranks 2 or more, one per stage.");
  if (s.model != ModelKind::kTransformer)
    fail_usage("pipeline: only transformer blocks can be stages. Use --model transformer.");
  if (s.batch % s.micro_batches != 0)
    fail_usage("micro_batches: --batch {} cannot be cut into {} equal parts.", s.batch,
               s.micro_batches);
  if (s.accumulate > 1)
    fail_usage("pipeline: --micro-batches are accumulated. Leave --accumulate 1.");
  if (s.shard_parameters || s.compress != Compression::kNone || s.topology != Topology::kFlat)
    fail_usage(
        "pipeline: no gradients go between stages. Leave --shard-parameters off, --compress none "
        "and "
        "--topology flat.");
  if (s.device == DeviceKind::kSim) return;
  if (s.precision == Precision::kAmpO1 || s.precision == Precision::kAmpO2)
    fail_usage(
        "pipeline: with loss scaling a stage would skip steps that others take. Use --precision "
        "bf16, tf32 or fp32.");
  if (s.raw_allocator)
    fail_usage(
        "pipeline: stages keep the activations of several micro batches, and --allocator raw has "
        "one address for each activation. Use --allocator caching.");
}

void check_local_steps(const Settings& s) {
  if (s.ranks == 1)
    fail_usage(
        "local_steps: one rank has nobody to average with. Give --ranks of 2 or more, or "
        "--local-steps 1.");
  if (s.shard_parameters || s.pipeline != PipelineSchedule::kOff || s.tensor_parallel ||
      s.expert_parallel)
    fail_usage(
        "local_steps: each rank updates the whole model. Use --shard-parameters off, --pipeline "
        "off, --tensor-parallel off and --expert-parallel off, or --local-steps 1.");
  if (s.compress != Compression::kNone || s.sum_each_batch)
    fail_usage(
        "local_steps: no gradients are exchanged, but parameters, in full. Use --compress none and "
        "--sum-each-batch off, or --local-steps 1.");
}

}  // namespace

void check_rank_settings(const Settings& s) {
  if (s.local_steps > 1) check_local_steps(s);
  if (s.dgc_clip > 0 && s.compress != Compression::kDgc)
    fail_usage(
        "dgc_clip: limits only the gradients that dgc adds up. Use --compress dgc, or --dgc-clip "
        "0.");
  if (s.pipeline != PipelineSchedule::kOff) check_pipeline(s);
  if (s.pipeline == PipelineSchedule::kOff && s.micro_batches > 1)
    fail_usage(
        "micro_batches: only a pipeline cuts its batch. Use --pipeline 1f1b, or --accumulate to "
        "add up "
        "gradients of several batches.");
  if (s.shard_parameters) check_sharding(s);
  if (s.expert_parallel && s.experts == 0)
    fail_usage("expert_parallel: the model has no experts. Give --experts.");
  if (s.experts > 0) check_experts(s);
  if (s.sequence_parallel && !s.tensor_parallel)
    fail_usage(
        "sequence_parallel: splits activations between the products of tensor parallelism. Add "
        "--tensor-parallel on.");
  if (s.tensor_parallel) check_tensor_parallel(s);
  if (s.ranks == 1) return;
  const bool halves_by_nodes =
      s.compress == Compression::kHalf && s.topology == Topology::kHierarchical;
  if (s.compress != Compression::kNone && s.topology != Topology::kFlat && !halves_by_nodes)
    fail_usage(
        "compress: only fp16 gradients go over the hierarchical topology, the others over the flat "
        "one; leave --topology flat or --compress none.");
  if (s.topology == Topology::kHierarchical && s.ranks > s.ranks_per_node &&
      s.ranks % s.ranks_per_node != 0)
    fail_usage(
        "topology: hierarchical needs full nodes; {} ranks are not a multiple of --ranks-per-node "
        "{}.",
        s.ranks, s.ranks_per_node);
  if (s.slow_rank >= s.ranks)
    fail_usage("slow_rank: there is no rank {} among {}; ranks count from 0.", s.slow_rank,
               s.ranks);
}

}  // namespace headway::trainer
