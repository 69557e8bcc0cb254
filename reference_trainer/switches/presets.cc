// SPDX-License-Identifier: MIT
#include "reference_trainer/switches/switch_kinds.h"
#include "reference_trainer/switches/switches.h"

namespace headway::trainer {
namespace {

/// On a GPU, sizes at which healthy training is bound by arithmetic (one worker makes such a batch in
/// 16 ms); the processor's would leave it waiting for launches.
const Preset::Values kOnGpu = {{"width", "64"}, {"batch", "256"}, {"workers", "4"}};

/// A run with nothing wrong: what each preset of a rule starts from.
Preset::Values healthy(const char* batch, const char* steps) {
  return {{"batch", batch}, {"steps", steps}, {"eval", "off"}, {"launch_us", "5"}};
}

Preset::Values with(Preset::Values values, Preset::Values more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

/// Four ranks on two nodes with a network that is slow enough to matter and fast enough to hide.
Preset::Values ranks(const char* steps) {
  return with(healthy("8", steps), {{"ranks", "4"}, {"ranks_per_node", "2"}, {"samples", "4000"}});
}

/// A transformer, for what is about its blocks; on a GPU its products fill it.
Preset::Values blocks(const char* steps) {
  return {{"model", "transformer"}, {"data", "generated"}, {"layers", "4"}, {"features", "64"},
          {"heads", "4"},           {"sequence", "64"},    {"batch", "4"},  {"steps", steps},
          {"eval", "off"},          {"dropout", "0"}};
}
const Preset::Values kBlocksOnGpu = {{"layers", "6"}, {"features", "1024"},
                                     {"heads", "16"}, {"sequence", "512"},
                                     {"batch", "8"},  {"precision", "bf16"}};

/// Small layers and many images in half precision: what passes through memory weighs as much as arithmetic.
const Preset::Values kMemoryOnGpu = {{"width", "16"},          {"batch", "2048"},
                                     {"memory_gb_per_s", "0"}, {"precision", "bf16"},
                                     {"source", "memory"},     {"workers", "16"}};

/// A small detector with input that is cheap to make, so that a processor has time for the planted.
Preset::Values detector(const char* batch) {
  return with(healthy(batch, "60"), {{"model", "ssd"},
                                     {"data", "generated"},
                                     {"samples", "500"},
                                     {"image_size", "32"},
                                     {"depth", "8"},
                                     {"width", "8"},
                                     {"decode", "offline"},
                                     {"augment", "off"},
                                     {"prefetch", "32"}});
}
/// Its loader has more to do than such a network.
const Preset::Values kDetectorOnGpu = {{"batch", "32"},    {"image_size", "64"},
                                       {"launch_us", "0"}, {"link_mb_per_s", "0"},
                                       {"workers", "32"},  {"host_cores", "40"}};

}  // namespace

// Each preset is a healthy run with the switches planted that its rule is about, and sizes at which
// the effect dominates on two noisy cores (figures in docs/design/0010-reference-trainer.md).
std::span<const Preset> all_presets() {
  static const std::vector<Preset> kPresets = {
      {"healthy",
       "Nothing holds the device back: packed shards, prefetched copies, fused ops, no waiting.",
       "",
       healthy("16", "100"),
       kOnGpu,
       {}},
      {"input-bound",
       "One worker reads small files from slow storage; the device waits for batches.",
       "input-bound",
       with(healthy("16", "60"), {{"samples", "2000"}}),
       kOnGpu,
       {{"source", "files"},
        {"workers", "1"},
        {"prefetch", "2"},
        {"storage_latency_ms", "6"},
        {"storage_mb_per_s", "50"}}},
      {"small-files",
       "Storage that answers late is read in small files, each with a request of its own.",
       "small-files",
       with(healthy("16", "60"), {{"samples", "2000"}, {"storage_latency_ms", "4"}}),
       kOnGpu,
       {{"source", "files"}}},
      {"slow-storage",
       "Images come from storage with too little bandwidth.",
       "slow-storage",
       with(healthy("16", "60"), {{"samples", "2000"}, {"source", "files"}, {"workers", "4"}}),
       kOnGpu,
       {{"storage_mb_per_s", "0.1"}}},
      {"workers-starved",
       "One worker makes batches while other cores are idle.",
       "workers-starved",
       with(healthy("16", "60"), {{"samples", "2000"},
                                  {"source", "files"},
                                  {"storage_latency_ms", "6"},
                                  {"workers", "16"},
                                  {"prefetch", "16"}}),
       {{"width", "64"}, {"batch", "256"}, {"storage_latency_ms", "0.3"}},
       {{"workers", "1"}}},
      {"step-outlier",
       "Workers start anew with every epoch, and no batch is made across it: its first step waits.",
       "step-outlier",
       with(healthy("16", "120"), {{"samples", "320"}, {"worker_start_ms", "200"}}),
       {{"width", "64"}, {"batch", "256"}, {"workers", "4"}, {"samples", "2560"}},
       {{"worker_reuse", "off"}}},
      {"launch-bound",
       "Many short kernels behind an expensive launch; the device waits for the next launch.",
       "launch-bound",
       {{"batch", "1"}, {"width", "8"}, {"steps", "300"}, {"eval", "off"}},
       {},
       {{"launch_us", "60"}}},
      {"host-sync",
       "The host waits for the device after every op, and then the device waits for the host.",
       "host-sync",
       {{"batch", "1"}, {"steps", "300"}, {"eval", "off"}, {"launch_us", "8"}},
       {{"launch_us", "0"}},
       {{"sync", "op"}}},
      {"allocator",
       "Activations, gradients and scratch space come from the driver before each op and go back "
       "after it; the device waits for every free.",
       "allocator",
       healthy("16", "60"),
       kOnGpu,
       {{"allocator", "raw"}}},
      {"unfused",
       "Batch norm, add and ReLU as separate passes over memory, and four kernels per parameter in "
       "the update.",
       "unfused-elementwise",
       {{"batch", "8"},
        {"width", "8"},
        {"steps", "150"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"}},
       kMemoryOnGpu,
       {{"fused_bn", "off"}, {"fused_optimizer", "off"}}},
      {"unfused-attention",
       "Attention as seven kernels that pass the scores of all heads through memory.",
       "unfused-attention",
       {{"model", "transformer"},
        {"data", "generated"},
        {"layers", "2"},
        {"features", "64"},
        {"sequence", "256"},
        {"batch", "4"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"}},
       {{"features", "256"},
        {"sequence", "512"},
        {"batch", "16"},
        {"launch_us", "0"},
        {"memory_gb_per_s", "0"}},
       {{"fused_attention", "off"}}},
      {"unfused-optimizer",
       "AdamW as seven elementwise kernels for each of 101 parameters.",
       "unfused-optimizer",
       {{"model", "transformer"},
        {"data", "generated"},
        {"layers", "8"},
        {"features", "64"},
        {"sequence", "16"},
        {"batch", "1"},
        {"steps", "100"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"}},
       {{"launch_us", "0"}, {"memory_gb_per_s", "0"}},
       {{"fused_optimizer", "off"}}},
      {"rnn-not-persistent",
       "LSTM layers as a product and a cell for every time step.",
       "rnn-not-persistent",
       {{"model", "gnmt"},
        {"data", "generated"},
        {"features", "64"},
        {"sequence", "32"},
        {"batch", "4"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "5"}},
       {{"launch_us", "0"}},
       {{"rnn", "standard"}}},
      {"assign-per-sample",
       "A detector's boxes are matched to its anchors image by image, in kernels that fill "
       "nothing.",
       "serial-per-sample",
       with(detector("32"), {{"assign", "batched"}, {"launch_us", "60"}}),
       kDetectorOnGpu,
       {{"assign", "per-sample"}}},
      {"coords-on-host",
       "The anchors that a detector's loss counts are picked on the processor; the device waits.",
       "host-round-trip",
       with(detector("4"), {{"link_mb_per_s", "20"}}),
       kDetectorOnGpu,
       {{"coords", "host-round-trip"}}},
      {"amp-casts",
       "Mixed precision by casts around every product of a narrow network.",
       "amp-casts",
       {{"model", "transformer"},
        {"data", "generated"},
        {"layers", "2"},
        {"features", "64"},
        {"sequence", "64"},
        {"batch", "4"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"},
        {"precision", "bf16"}},
       {{"features", "512"}, {"batch", "64"}, {"launch_us", "0"}, {"memory_gb_per_s", "0"}},
       {{"precision", "amp-o1"}}},
      {"layout-transposes",
       "Convolutions that read and write NCHW in a network that is NHWC everywhere else.",
       "layout-transposes",
       with(healthy("4", "60"), {{"memory_gb_per_s", "0.5"}}),
       kMemoryOnGpu,
       {{"layout", "nchw"}}},
      {"copy-not-overlapped",
       "Batches cross a slow link while the device waits.",
       "copy-not-overlapped",
       with(healthy("16", "60"), {{"link_mb_per_s", "2"}}),
       {{"width", "64"}, {"batch", "256"}, {"workers", "4"}, {"link_mb_per_s", "200"}},
       {{"h2d", "async"}}},
      {"pageable-copy",
       "Batches lie in pageable memory: the host waits until each is copied.",
       "pageable-copy",
       with(healthy("16", "60"), {{"h2d", "async"}, {"link_mb_per_s", "20"}}),
       {{"width", "8"},
        {"depth", "8"},
        {"batch", "2048"},
        {"link_mb_per_s", "0"},
        {"source", "memory"},
        {"workers", "16"}},
       {{"pinned", "off"}}},
      {"comm-exposed",
       "Gradients cross a link that is too slow for the computation beside it.",
       "comm-exposed",
       ranks("40"),
       kOnGpu,
       {{"network_gb_per_s", "0.05"}}},
      {"comm-not-overlapped",
       "All gradients are exchanged after the last one is ready; the device waits for all of it.",
       "comm-not-overlapped",
       with(ranks("40"),
            {{"network_gb_per_s", "0.2"}, {"first_bucket_mb", "0.1"}, {"bucket_mb", "0.2"}}),
       {{"width", "64"},
        {"batch", "256"},
        {"workers", "4"},
        {"precision", "tf32"},
        {"network_gb_per_s", "24"},
        {"bucket_mb", "2"}},
       {{"overlap", "off"}}},
      {"comm-too-small",
       "Every gradient is exchanged by itself, each at the latency of the network.",
       "comm-too-small",
       with(ranks("40"), {{"network_us", "2000"}, {"network_gb_per_s", "10"}}),
       {{"width", "64"},
        {"batch", "64"},
        {"workers", "4"},
        {"precision", "tf32"},
        {"network_us", "20"},
        {"network_gb_per_s", "100"}},
       {{"first_bucket_mb", "0"}, {"bucket_mb", "0"}}},
      {"comm-slow-link",
       "One ring over all ranks crosses a slow network at every hop.",
       "comm-slow-link",
       with(ranks("40"), {{"network_gb_per_s", "0.02"}, {"topology", "hierarchical"}}),
       {{"width", "64"},
        {"batch", "256"},
        {"workers", "4"},
        {"precision", "tf32"},
        {"network_gb_per_s", "4"},
        {"bucket_mb", "5"}},
       {{"topology", "flat"}}},
      {"parameter-server",
       "Gradients go through one rank, whose link all others share.",
       "comm-exposed",
       with(ranks("40"), {{"network_gb_per_s", "0.1"}}),
       {{"width", "64"},
        {"batch", "256"},
        {"workers", "4"},
        {"network_gb_per_s", "5"},
        {"bucket_mb", "2"}},
       {{"topology", "parameter-server"}}},
      {"pipeline-bubble",
       "Two stages of a pipeline pass on two micro batches; each is idle for a third of the step.",
       "pipeline-bubble",
       with(blocks("40"),
            {{"ranks", "2"}, {"pipeline", "gpipe"}, {"batch", "32"}, {"micro_batches", "16"}}),
       with(kBlocksOnGpu, {{"batch", "256"}, {"micro_batches", "32"}}),
       {{"micro_batches", "2"}}},
      {"recomputation",
       "Each block's activations are made again in the backward pass; memory has room for them.",
       "recomputation",
       blocks("40"),
       kBlocksOnGpu,
       {{"recompute", "on"}}},
      {"late-all-gather",
       "Ranks share the parameters and ask for a block's only when it is its turn.",
       "late-all-gather",
       with(blocks("40"), {{"ranks", "8"}, {"shard_parameters", "on"}}),
       kBlocksOnGpu,
       {{"gather_prefetch", "off"}}},
      {"straggler",
       "One rank is late in every step, and the others wait for it.",
       "straggler",
       ranks("40"),
       kOnGpu,
       {{"slow_rank", "2"}, {"slow_rank_ms", "30"}}},
  };
  return kPresets;
}

const Preset& find_preset(std::string_view name) {
  const auto presets = all_presets();
  const auto found = std::ranges::find(presets, name, &Preset::name);
  if (found != presets.end()) return *found;
  std::vector<std::string> names;
  std::string legal;
  for (const Preset& preset : presets) {
    names.emplace_back(preset.name);
    legal += (legal.empty() ? "" : ", ") + std::string(preset.name);
  }
  std::string hint;
  for (const std::string& near : closest(name, names, 1)) hint = " Did you mean '" + near + "'?";
  fail_value("preset", std::string(name), legal, hint);
}

}  // namespace headway::trainer
