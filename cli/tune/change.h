// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::tune {

/// A switch of headway-train and a value for it: {"fused_bn", "on"}.
using Setting = std::pair<std::string, std::string>;
/// Values that replace those of a command line; each switch once.
using Change = std::vector<Setting>;

/// `base` updated with the values of `more`.
Change with(Change base, const Change& more);
/// "--fused-bn" for a switch; a name given to --vary is returned unchanged
std::string option_of(std::string_view name);
/// The displayed value of an argument or variable that is left out.
inline constexpr std::string_view kAbsent = "(none)";
/// "--h2d prefetch", "OMP_NUM_THREADS=2"
std::string words_of(const Setting& setting);
/// "--h2d prefetch --fused-bn on"; empty for no change.
std::string words_of(const Change& change);
/// The command line with the change applied: existing options of the changed switches ("--fused-bn
/// off", "--fused_bn=off", "--set fused_bn=off") are removed and the new ones are appended.
/// `arguments[0]` is the program.
std::vector<std::string> apply(std::vector<std::string> arguments, const Change& change);
/// The command line without the options of these names ("--metrics") and without their values.
std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& names);
/// Joined for a shell, quoted where needed.
std::string shell_line(const std::vector<std::string>& arguments);

/// The switches that the text of a fix names: "--sync never"; "--fused-bn on, --graph-compiler on"
/// (either of them); or "--workers, --prefetch" (names only).
struct NamedSwitches {
  std::vector<Change> alternatives;  ///< changes with values
  std::vector<std::string> bare;     ///< names without a value
};
NamedSwitches parse_named_switches(std::string_view text);

}  // namespace headway::tune
