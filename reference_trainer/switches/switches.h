// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// How `headway tune` may change a switch: by default not at all. Declared only where a value changes how
/// a step is computed and never what (rounding apart): not the model, the data, the batch, the seed, nor
/// what emulates slow hardware.
struct Tuning {
  enum class How : std::uint8_t {
    kNever,
    kValues,    ///< to one of `values`
    kDoubling,  ///< to twice or half as much, and on in the direction that gains
  };
  How how = How::kNever;
  std::vector<std::string> values = {};  ///< worth trying, in this order
  std::int64_t least = 0;                ///< bounds of the doubling, within the legal ones
  std::int64_t most = 0;
  bool when_allowed = false;  ///< changes the arithmetic: only with `headway tune --allow NAME`
  bool (*matters)(const Settings&) = nullptr;  ///< whether it can change this run; null: always
};

/// One switch of the trainer. The list in switches.cc is the only declaration: parser, --help,
/// --explain, presets, the settings in traces and docs/reference/trainer.md come from it.
struct Switch {
  std::string_view name;  ///< "fused_bn"; on the command line also --fused-bn
  std::string_view area;  ///< heading in help and docs
  std::string values;     ///< legal values, for people: "on, off" or "1 to 4096"
  std::string_view help;
  std::string_view
      provokes;  ///< rules of `headway report` that the bad values bring on; may be empty
  std::function<std::string(const Settings&)> get;
  /// Throws Error (usage) that lists the legal values.
  std::function<void(Settings&, const std::string& value)> set;
  Tuning tune;
};

std::span<const Switch> all_switches();
/// By name, with '-' and '_' the same. Throws Error (usage) with a suggestion when there is none.
const Switch& find_switch(std::string_view name);

/// Named sets of values, each planting one bottleneck (or none).
struct Preset {
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  std::string_view name;
  std::string_view help;
  std::string_view rule;  ///< that its bottleneck should bring on; empty: none is planted
  Values values;          ///< of the run, healthy by themselves
  Values simulated;       ///< what is different on a simulated GPU
  Values planted;         ///< the bottleneck; without them it is gone
};
std::span<const Preset> all_presets();
const Preset& find_preset(std::string_view name);

/// Settings together with where each value came from.
class EffectiveSettings {
 public:
  /// `device` decides about the values that are different on a simulated GPU.
  void apply(const Preset& preset, DeviceKind device);
  void apply(std::string_view name, const std::string& value);

  /// Replaces "decide for me" by what was decided.
  void resolve_threads(int threads) { settings_.threads = threads; }
  void resolve_ranks(int ranks) { settings_.ranks = ranks; }
  /// FP32 products stay FP32, whatever `precision` says of TF32.
  void forbid_tf32() { settings_.tf32_forbidden = true; }

  const Settings& values() const { return settings_; }
  std::string preset() const { return preset_; }
  /// The same settings without what the preset has planted; nothing when it has planted nothing, or
  /// the command line has overruled it.
  std::optional<Settings> without_planted() const;
  /// What of the preset's planted values is in effect, by switch.
  Preset::Values planted() const;
  /// "default", "preset input-bound" or "command line".
  std::string origin(const Switch& of) const;
  /// The table that --explain prints.
  std::string table() const;

 private:
  Settings settings_;
  std::string preset_;
  DeviceKind device_ = DeviceKind::kHost;
  std::map<std::string_view, std::string> origin_;
};

/// docs/reference/trainer.md.
std::string reference_markdown();
/// The list for programs, with the values in effect: what `headway-train --switches` prints.
std::string switches_json(const EffectiveSettings& settings);

}  // namespace headway::trainer
