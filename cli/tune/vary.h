// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// What one `--vary` changes, and between which values.
struct Knob {
  enum class Kind : std::uint8_t {
    kOption,       ///< "--num-workers=0,2,4" or "--num-workers 0,2,4": an argument with a value
    kFlag,         ///< "--pin-memory": an argument without one, there ("on") or not ("off")
    kAlternative,  ///< "--amp|--no-amp": one of several arguments
    kWord,         ///< "batch=16,32" where the command has "batch=…" (Hydra)
    kPlaceholder,  ///< "n=1,2" where the command has "{n}"
    kEnvironment,  ///< "OMP_NUM_THREADS=1,2"
  };
  Kind kind = Kind::kOption;
  std::string name;     ///< as it was spelled: "--num-workers"
  bool joined = false;  ///< an option and its value are one word, with '='
  /// The start first: what the command has; where it has nothing, the first that was listed. An empty one: the
  /// argument or variable is left out.
  std::vector<std::string> values;
  std::vector<std::string> fixes;  ///< that were named for it; empty: by its name

  /// Of its settings: "--num-workers", "OMP_NUM_THREADS=".
  std::string key() const { return name.starts_with('-') ? name : name + "="; }
};

/// A command and what of it is varied. A setting of the search is {knob's key, value}.
class VariedCommand {
 public:
  /// `variable`: an environment variable's value, or null. Throws Error(kUsage) that says what is wrong with a text, and how it is written.
  VariedCommand(std::vector<std::string> command, const std::vector<std::string>& texts,
                const char* (*variable)(const char*));

  const std::vector<Knob>& knobs() const { return knobs_; }
  /// How many settings there are.
  double settings() const;
  /// The same for the search.
  TrainerSwitches switches() const;
  /// Program and arguments; variables of the environment are not in it.
  std::vector<std::string> command(const Change& change) const;
  /// "OMP_NUM_THREADS=2" for what is set, and the names of what is unset.
  struct Environment {
    std::vector<std::string> set;
    std::vector<std::string> unset;
    bool empty() const { return set.empty() && unset.empty(); }
  };
  Environment environment(const Change& change) const;
  /// The command as words that run in this environment: with `env` before it where that differs.
  std::vector<std::string> words(const Change& change) const;
  /// The same to paste into a shell.
  std::string line(const Change& change) const;

 private:
  const std::string& value(const Knob& knob, const Change& change) const;

  std::vector<std::string> command_;
  std::vector<Knob> knobs_;
};

}  // namespace headway::tune
