// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// How often the host waits for the device after launching an op.
struct SyncEvery {
  std::int64_t ops = 0;  ///< 0: never; 1: after every op; n: after every n-th
};

/// All settings of a run; each field belongs to one switch of switches/switches.cc.
struct Settings {
  // run
  RunMode mode = RunMode::kTrain;
  std::string checkpoint;  ///< written after training, read before inference; empty: none
  std::int64_t steps = 0;  ///< 0: epochs decide
  std::int64_t epochs = 1;
  std::int64_t batch = 32;  ///< samples (images or sequences) of a step
  std::int64_t seed = 1;
  bool eval = true;
  std::int64_t eval_samples = 2000;  ///< test samples of the evaluation; 0: all
  // model
  ModelKind model = ModelKind::kResnet;
  std::int64_t depth = 20;  ///< of a residual network, in layers
  std::int64_t width = 16;  ///< channels of its first layers
  std::int64_t layers = 4;  ///< blocks of a text model
  std::int64_t heads = 4;
  std::int64_t features = 128;  ///< of a token
  std::int64_t sequence = 128;  ///< tokens
  std::int64_t window = 0;      ///< 0: the whole sequence
  double dropout = 0.1;         ///< share of the values that is dropped
  std::int64_t experts = 0;     ///< per block, instead of its GELU layer; 0: none
  std::int64_t expert_choices = 1;
  double expert_capacity = 0;   ///< times the mean load; 0: no token is dropped
  double router_imbalance = 1;  ///< load of the busiest expert, times the mean
  Matching matching = Matching::kOverlap;
  // optimizer
  OptimizerChoice optimizer = OptimizerChoice::kAuto;
  double learning_rate = 0;  ///< 0: a default that suits the optimizer
  double momentum = 0.9;     ///< of SGD and LARS
  double weight_decay = 1e-4;
  OptimizerFusion fused_optimizer = OptimizerFusion::kMultiTensor;
  // fusion
  bool fused_bn = true;
  bool fused_ln = true;
  bool fused_attention = true;
  bool persistent_rnn = true;
  bool fused_bias_act = true;
  bool fused_loss = true;
  GraphCompiler graph_compiler = GraphCompiler::kOn;
  // layout
  bool channels_first = false;  ///< convolutions on NCHW
  bool slow_dgrad = false;      ///< data gradients of strided convolutions by inserted zeros
  // placement
  Assign assign = Assign::kLoader;
  bool coords_on_processor = false;
  // precision
  Precision precision = Precision::kFp32;
  bool tf32_forbidden =
      false;  ///< no switch: NVIDIA_TF32_OVERRIDE=0, which NVIDIA's libraries obey
  // inference
  InferPrecision infer_precision = InferPrecision::kFp32;
  std::int64_t train_steps = 200;  ///< where there is no checkpoint
  bool fold_bn = true;
  bool fused_epilogue = true;
  Calibration calibration = Calibration::kEntropy;
  std::int64_t generate = 0;  ///< tokens of each sequence; 0: none
  bool kv_cache = true;
  std::int64_t calibration_samples = 256;
  double calibration_percentile = 99.99;
  // data
  DataKind data = DataKind::kAuto;
  std::string data_dir = "/usr/share/datasets/fashion-mnist";
  std::string picture_dir = "/usr/share/openclipart/png";
  std::int64_t image_size = 64;  ///< of pictures
  std::string box_dir;           ///< folder of pictures with annotations
  std::string pairs_dir = "/usr/share/locale/de/LC_MESSAGES";
  std::string text_dir = "/usr/share/man/man7";
  std::string cache_dir;     ///< empty: $XDG_CACHE_HOME or ~/.cache
  std::int64_t samples = 0;  ///< 0: all
  // input
  SourceKind source = SourceKind::kShards;
  Decode decode = Decode::kStep;
  std::int64_t workers = 1;
  bool worker_reuse = true;
  double worker_start_ms = 0;  ///< emulated: time to start a worker
  std::int64_t prefetch = 4;   ///< batches made ahead
  bool shuffle = true;
  Balance balance = Balance::kSorted;
  bool augment = true;
  bool augment_on_device = false;
  double read_first_ms = 0;  ///< emulated: reading the whole data set before the first step
  StorageKind storage = StorageKind::kMachine;
  double storage_latency_ms = 0;  ///< emulated: of every open and every read
  double storage_mb_per_s = 0;    ///< emulated: shared by all workers; 0: no limit
  double shard_mb = 0;            ///< simulated: size of a shard
  ShardRead shard_read = ShardRead::kStream;
  bool shard_split = true;    ///< each rank reads its own shards, not all
  double host_memory_gb = 0;  ///< for a rank's loader; 0: enough for all
  bool pinned = true;         ///< batches are in pinned memory, which needs no staging
  CopyMode h2d = CopyMode::kPrefetch;
  double link_mb_per_s = 0;  ///< emulated link between host and device; 0: none
  // launch
  SyncEvery sync;
  LossRead loss_read = LossRead::kDeferred;
  std::int64_t loss_every = 1;  ///< steps between two reads of the loss
  std::int64_t run_ahead = 2;   ///< steps that the host may be ahead of the device
  double launch_us = 0;         ///< emulated: host time per kernel launch
  bool cuda_graph = false;
  bool lazy_loading = false;  ///< load a shape's device code when a step first needs it
  double load_code_ms = 0;    ///< emulated: time to load the code of a shape
  DeviceSchedule device_schedule = DeviceSchedule::kBlocking;
  // ranks
  std::int64_t ranks = 1;
  CommKind comm = CommKind::kAuto;
  bool overlap = true;
  double first_bucket_mb = 1;
  double bucket_mb = 25;
  std::int64_t accumulate = 1;
  bool sum_each_batch = false;
  std::int64_t local_steps = 1;  ///< steps between two exchanges; above 1, of parameters
  Compression compress = Compression::kNone;
  double dgc_density = 0.01;
  std::int64_t dgc_warm_up = 20;
  double dgc_clip = 0;  ///< largest norm of the gradients; 0: no limit
  std::int64_t powersgd_rank = 2;
  Topology topology = Topology::kFlat;
  PipelineSchedule pipeline = PipelineSchedule::kOff;
  std::int64_t micro_batches = 1;  ///< of a pipeline
  bool shard_parameters = false;
  bool gather_prefetch = true;
  bool expert_parallel = false;
  bool tensor_parallel = false;
  bool sequence_parallel = false;
  std::int64_t ranks_per_node = 8;
  double node_gb_per_s = 0;
  double network_gb_per_s = 0;
  double network_us = 0;
  std::int64_t slow_rank = -1;
  double slow_rank_ms = 0;
  std::int64_t pause_every = -1;  ///< steps; -1: as in the drawn world
  double pause_ms = 20;
  double pause_growth_ms = 0;  ///< each pause is longer than the one before by this
  PauseFor pause_for = PauseFor::kNothing;
  bool split_k = false;
  double comm_timeout_s = 60;
  // device
  DeviceKind device = DeviceKind::kHost;
  std::string gpu = "h200";  ///< simulated
  std::int64_t world = 0;    ///< simulated: seed of a drawn machine; 0: the tables'
  double clock = 1;          ///< simulated: of the multiprocessors, as a share of the highest
  double jitter = 0;         ///< likewise: durations vary by this share at most
  std::int64_t host_cores = 16;
  double memory_gb_per_s = 0;  ///< emulated device memory: a bound for kernels; 0: none
  bool raw_allocator = false;  ///< allocate and free activations in every step
  bool recompute = false;      ///< compute activations again in the backward pass
  std::int64_t threads = 0;    ///< 0: one less than the cores, at least 1, at most 8
};

/// Settings with the ranks' division of a batch applied: the stages of a pipeline cut a batch into
/// micro batches, whose gradients are added up, and all ranks work on the same samples. Ranks that
/// share each layer also work on the same samples; otherwise each rank has its own.
Settings with_micro_batches(Settings settings);
inline std::int64_t ranks_with_own_samples(const Settings& settings) {
  const bool share = settings.tensor_parallel || settings.pipeline != PipelineSchedule::kOff;
  return share ? 1 : settings.ranks;
}

/// The rank that prints and writes files: the first, or a pipeline's last stage, which knows the
/// loss.
inline std::int64_t reporting_rank(const Settings& settings) {
  return settings.pipeline == PipelineSchedule::kOff ? 0 : settings.ranks - 1;
}

}  // namespace headway::trainer
