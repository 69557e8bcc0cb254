// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// One `--vary` option: the argument that it changes and the values.
struct Knob {
  enum class Kind : std::uint8_t {
    kOption,       ///< "--num-workers=0,2,4" or "--num-workers 0,2,4": an argument with a value
    kFlag,         ///< "--pin-memory": an argument without a value, present ("on") or not ("off")
    kAlternative,  ///< "--amp|--no-amp": one of several arguments
    kWord,         ///< "batch=16,32" where the command has "batch=…" (Hydra)
    kPlaceholder,  ///< "n=1,2" where the command has "{n}"
    kEnvironment,  ///< "OMP_NUM_THREADS=1,2"
  };
  Kind kind = Kind::kOption;
  std::string name;     ///< as the user spelled it: "--num-workers"
  bool joined = false;  ///< an option and its value are one word, with '='
  /// The start value first: the one in the command; if the command has none, the first listed one.
  /// An empty value: the argument or variable is left out.
  std::vector<std::string> values;
  std::vector<std::string> fixes;  ///< fixes that the user named; empty: derived from its name

  /// The knob's name in a Setting: "--num-workers", "OMP_NUM_THREADS=".
  std::string key() const { return name.starts_with('-') ? name : name + "="; }
};

/// A command and the knobs that vary it. A Setting of the search is {knob's key, value}.
class VariedCommand {
 public:
  /// `variable`: returns the value of an environment variable, or null. Throws Error(kUsage) that
  /// says what is wrong with a text and shows the correct syntax.
  VariedCommand(std::vector<std::string> command, const std::vector<std::string>& texts,
                const char* (*variable)(const char*));

  const std::vector<Knob>& knobs() const { return knobs_; }
  /// The number of settings.
  double settings() const;
  /// The knobs as the switches that the search takes.
  TrainerSwitches switches() const;
  /// Program and arguments, without environment variables.
  std::vector<std::string> command(const Change& change) const;
  /// Variables to set, "OMP_NUM_THREADS=2", and names of variables to unset.
  struct Environment {
    std::vector<std::string> set;
    std::vector<std::string> unset;
    bool empty() const { return set.empty() && unset.empty(); }
  };
  Environment environment(const Change& change) const;
  /// The command as words that run in the present environment: preceded by `env` where variables
  /// change.
  std::vector<std::string> words(const Change& change) const;
  /// The same, quoted for a shell.
  std::string line(const Change& change) const;

 private:
  const std::string& value(const Knob& knob, const Change& change) const;

  std::vector<std::string> command_;
  std::vector<Knob> knobs_;
};

}  // namespace headway::tune
