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

/// How `headway tune` may change a switch; by default not at all. Declared only for switches that
/// change how a step is computed, never what it computes (except for rounding): not for the model,
/// the data, the batch, the seed, or the emulation of slow hardware.
struct Tuning {
  enum class How : std::uint8_t {
    kNever,
    kValues,    ///< to one of `values`
    kDoubling,  ///< to twice or half the value, and on in the direction that helps
  };
  How how = How::kNever;
  std::vector<std::string> values = {};  ///< values to try, in this order
  std::int64_t least = 0;                ///< bounds of the doubling, within the legal ones
  std::int64_t most = 0;
  bool when_allowed = false;  ///< changes the arithmetic: only with `headway tune --allow NAME`
  bool (*matters)(const Settings&) = nullptr;  ///< whether it can change this run; null: always
  /// Whether the settings with a value to try fit together; null: always.
  bool (*fits)(const Settings&) = nullptr;
};

/// One switch of the trainer. The list in switches.cc is the only declaration: parser, --help,
/// --explain, presets, the settings in traces and docs/reference/trainer.md come from it.
struct Switch {
  std::string_view name;  ///< "fused_bn"; on the command line also --fused-bn
  std::string_view area;  ///< heading in help and docs
  std::string values;     ///< legal values as text: "on, off" or "1 to 4096"
  std::string_view help;
  std::string_view provokes;  ///< rules of `headway report` that bad values trigger; may be empty
  std::function<std::string(const Settings&)> get;
  /// Throws Error (usage) that lists the legal values.
  std::function<void(Settings&, const std::string& value)> set;
  Tuning tune;
};

/// False where `assign` is a place without what `matching` reads: the loader's workers do not have
/// the model's predictions, which SimOTA needs.
bool assign_fits_matching(const Settings& settings);

std::span<const Switch> all_switches();
/// Finds a switch by name; '-' and '_' are equal. Throws Error (usage) with a suggestion when there
/// is none.
const Switch& find_switch(std::string_view name);

/// A named set of values that plants one bottleneck, or none.
struct Preset {
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  std::string_view name;
  std::string_view help;
  std::string_view rule;  ///< the rule that its bottleneck should trigger; empty: none planted
  Values values;          ///< of the run; they are healthy by themselves
  Values simulated;       ///< values that differ on a simulated GPU
  Values planted;         ///< cause the bottleneck; without them it is gone
};
std::span<const Preset> all_presets();
const Preset& find_preset(std::string_view name);

/// Settings together with where each value came from.
class EffectiveSettings {
 public:
  /// `device` selects the values that differ on a simulated GPU.
  void apply(const Preset& preset, DeviceKind device);
  void apply(std::string_view name, const std::string& value);

  /// Replaces "automatic" by the decided value.
  void resolve_threads(int threads) { settings_.threads = threads; }
  void resolve_ranks(int ranks) { settings_.ranks = ranks; }
  /// Keeps FP32 products in FP32, whatever `precision` says about TF32.
  void forbid_tf32() { settings_.tf32_forbidden = true; }

  const Settings& values() const { return settings_; }
  std::string preset() const { return preset_; }
  /// The same settings without the values that the preset has planted; nothing when it has planted
  /// none, or the command line has overruled them.
  std::optional<Settings> without_planted() const;
  /// The preset's planted values that are in effect, by switch.
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

/// The text of docs/reference/trainer.md.
std::string reference_markdown();
/// The list of switches with the values in effect as JSON: the output of `headway-train
/// --switches`.
std::string switches_json(const EffectiveSettings& settings);

}  // namespace headway::trainer
