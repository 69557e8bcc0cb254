// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

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
};

std::span<const Switch> all_switches();
/// By name, with '-' and '_' the same. Throws Error (usage) with a suggestion when there is none.
const Switch& find_switch(std::string_view name);

/// Named sets of values, each planting one bottleneck (or none).
struct Preset {
  std::string_view name;
  std::string_view help;
  std::vector<std::pair<std::string_view, std::string_view>> values;
};
std::span<const Preset> all_presets();
const Preset& find_preset(std::string_view name);

/// Settings together with where each value came from.
class EffectiveSettings {
 public:
  void apply(const Preset& preset);
  void apply(std::string_view name, const std::string& value);

  /// Replaces "decide for me" by what was decided.
  void resolve_threads(int threads) { settings_.threads = threads; }

  const Settings& values() const { return settings_; }
  std::string preset() const { return preset_; }
  /// "default", "preset input-bound" or "command line".
  std::string origin(const Switch& of) const;
  /// The table that --explain prints.
  std::string table() const;

 private:
  Settings settings_;
  std::string preset_;
  std::map<std::string_view, std::string> origin_;
};

/// docs/reference/trainer.md.
std::string reference_markdown();

}  // namespace headway::trainer
