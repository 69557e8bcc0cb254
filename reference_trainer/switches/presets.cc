// SPDX-License-Identifier: MIT
#include "reference_trainer/switches/switch_kinds.h"
#include "reference_trainer/switches/switches.h"

namespace headway::trainer {

// Each preset is the healthy one with the switches changed that its rule is about, and sizes at
// which the effect dominates on two noisy cores (figures in docs/design/0010-reference-trainer.md).
std::span<const Preset> all_presets() {
  static const std::vector<Preset> kPresets = {
      {"healthy",
       "Nothing holds the device back: packed shards, prefetched copies, fused ops, no waiting.",
       {{"batch", "16"}, {"steps", "100"}, {"eval", "off"}, {"launch_us", "5"}}},
      {"input-bound",
       "One worker reads small files from slow storage; the device waits for batches.",
       {{"batch", "16"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "5"},
        {"source", "files"},
        {"workers", "1"},
        {"prefetch", "2"},
        {"storage_latency_ms", "6"},
        {"storage_mb_per_s", "50"},
        {"samples", "2000"}}},
      {"launch-bound",
       "Many short kernels behind an expensive launch; the device waits for the next launch.",
       {{"batch", "1"}, {"width", "8"}, {"steps", "300"}, {"eval", "off"}, {"launch_us", "60"}}},
      {"host-sync",
       "The host waits for the device after every op, and then the device waits for the host.",
       {{"batch", "1"}, {"steps", "300"}, {"eval", "off"}, {"launch_us", "8"}, {"sync", "op"}}},
      {"unfused",
       "Batch norm, add and ReLU as separate passes over memory, and four kernels per parameter in "
       "the "
       "update.",
       {{"batch", "8"},
        {"width", "8"},
        {"steps", "150"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"},
        {"fused_bn", "off"},
        {"fused_optimizer", "off"}}},
      {"unfused-attention",
       "Attention as seven kernels that pass the scores of all heads through memory.",
       {{"model", "transformer"},
        {"data", "generated"},
        {"layers", "2"},
        {"features", "64"},
        {"sequence", "256"},
        {"batch", "4"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"},
        {"fused_attention", "off"}}},
      {"unfused-optimizer",
       "AdamW as seven elementwise kernels for each of 101 parameters.",
       {{"model", "transformer"},
        {"data", "generated"},
        {"layers", "8"},
        {"features", "64"},
        {"sequence", "16"},
        {"batch", "1"},
        {"steps", "100"},
        {"eval", "off"},
        {"launch_us", "2"},
        {"memory_gb_per_s", "6"},
        {"fused_optimizer", "off"}}},
      {"rnn-not-persistent",
       "LSTM layers as a product and a cell for every time step.",
       {{"model", "gnmt"},
        {"data", "generated"},
        {"features", "64"},
        {"sequence", "32"},
        {"batch", "4"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "5"},
        {"rnn", "standard"}}},
      {"amp-casts",
       "Mixed precision by casts around every product of a narrow network.",
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
        {"precision", "amp-o1"}}},
      {"copy-not-overlapped",
       "Batches cross a slow link while the device waits.",
       {{"batch", "16"},
        {"steps", "60"},
        {"eval", "off"},
        {"launch_us", "5"},
        {"h2d", "async"},
        {"link_mb_per_s", "2"}}},
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
