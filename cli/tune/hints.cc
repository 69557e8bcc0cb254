// SPDX-License-Identifier: MIT
#include "cli/tune/hints.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "cli/tune/change.h"

namespace headway::tune {
namespace {

/// How a fix selects one of the listed values.
enum class Asks : std::uint8_t {
  kNumber,  ///< the number in its setting: "--workers 4"
  kMore,    ///< the next larger
  kTwice,   ///< the nearest to twice as much
  kOn,      ///< a value that means on, if the present one means off
  kOther,   ///< some other value
};

struct Speaks {
  std::string_view fix;
  Asks asks = Asks::kOther;
  std::string_view number = {};  ///< the switch of headway-train that the setting names
  /// Parts of values that mean the same as the fix; they take precedence where one is listed.
  std::array<std::string_view, 3> meant = {};
};

constexpr auto kSpeaks = std::to_array<Speaks>({
    {"use-workers", Asks::kNumber, "workers"},
    {"more-workers", Asks::kNumber, "workers"},
    {"fewer-workers", Asks::kNumber, "workers"},
    {"no-workers", Asks::kNumber, "workers"},
    {"deeper-prefetch", Asks::kMore},
    {"persistent-workers", Asks::kOn},
    {"pinned-copies", Asks::kOn},
    {"overlap-copies", Asks::kOn},
    {"samples-in-memory", Asks::kOn},
    {"half-precision", Asks::kOn},
    {"half-throughout", Asks::kOn},
    {"tensor-cores", Asks::kOn},
    {"fuse-chains", Asks::kOn},
    {"cuda-graph", Asks::kOn},
    {"multi-tensor-optimizer", Asks::kOn, "", {"foreach", "multi"}},
    {"fused-update", Asks::kOn, "", {"fused"}},
    {"fused-attention", Asks::kOn},
    {"faster-gradients", Asks::kOn},
    {"no-layout-changes", Asks::kOn},
    {"larger-batch", Asks::kTwice},
    {"more-micro-batches", Asks::kNumber, "micro_batches"},
    {"larger-buckets", Asks::kMore},
    {"smaller-buckets", Asks::kNumber, "bucket_mb"},
    {"evaluate-less-often", Asks::kMore},
    {"checkpoint-less-often", Asks::kMore},
    {"log-less-often", Asks::kMore},
    {"tensor-collate", Asks::kOther, "", {"tensor", "stack", "default"}},
});

/// A word of an argument's name, and the fixes that it is about. A word that ends with '$' must
/// match completely; others match the beginning.
struct Named {
  std::string_view word;
  std::array<std::string_view, 4> fixes;
};

/// The first entry that fits a name counts.
constexpr auto kNamed = std::to_array<Named>({
    {"persist", {"persistent-workers"}},
    {"prefetch", {"deeper-prefetch"}},
    {"worker", {"use-workers", "more-workers", "fewer-workers", "no-workers"}},
    {"nw$", {"use-workers", "more-workers", "fewer-workers", "no-workers"}},
    {"pin$", {"pinned-copies", "overlap-copies"}},
    {"pinned", {"pinned-copies", "overlap-copies"}},
    {"collate", {"tensor-collate"}},
    {"cache", {"samples-in-memory"}},
    {"micro", {"more-micro-batches"}},
    {"microbatch", {"more-micro-batches"}},
    {"batch", {"larger-batch"}},
    {"bs$", {"larger-batch"}},
    {"bucket", {"larger-buckets", "smaller-buckets"}},
    {"compress", {"compress-gradients", "sum-in-16-bits"}},
    {"tf32", {"tensor-cores"}},
    {"matmul", {"tensor-cores"}},
    {"amp$", {"half-precision", "tensor-cores"}},
    {"autocast", {"half-precision", "tensor-cores"}},
    {"bf16", {"half-precision", "half-throughout"}},
    {"fp16", {"half-precision", "half-throughout"}},
    {"precision", {"half-precision", "tensor-cores"}},
    {"dtype", {"half-precision", "half-throughout", "tensor-cores"}},
    {"compile", {"fuse-chains", "cuda-graph"}},
    {"jit", {"fuse-chains", "cuda-graph"}},
    {"graph", {"cuda-graph"}},
    {"sdpa", {"fused-attention"}},
    {"flash", {"fused-attention"}},
    {"attention", {"fused-attention"}},
    {"attn", {"fused-attention"}},
    {"foreach", {"multi-tensor-optimizer", "fused-update"}},
    {"fused", {"multi-tensor-optimizer", "fused-update"}},
    {"optim", {"multi-tensor-optimizer", "fused-update"}},
    {"channels", {"no-layout-changes"}},
    {"benchmark", {"faster-gradients"}},
    {"recompute", {"keep-activations"}},
    {"checkpointing", {"keep-activations"}},
    {"checkpoint", {"checkpoint-less-often", "asynchronous-checkpoint"}},
    {"save", {"checkpoint-less-often", "asynchronous-checkpoint"}},
    {"eval", {"evaluate-less-often"}},
    {"val$", {"evaluate-less-often"}},
    {"log", {"log-less-often"}},
    {"logging", {"log-less-often"}},
    {"sync", {"remove-syncs", "deferred-read"}},
});

/// Minimum error, as a logarithm, of the replay of a change that no recorded run contains.
constexpr double kLeastDoubt = 0.04;
/// Relative error where the value is not the one that the fix has in mind.
constexpr double kOtherValue = 0.3;
/// Error bound where a recording does not show what a fix addresses; some of it may be unrecorded.
constexpr double kNotSeen = 0.06;
constexpr double kMostGain = 0.95;

std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words(1);
  char before = '-';
  for (char c : name) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    // as in numWorkers
    const bool begins = capital && std::islower(static_cast<unsigned char>(before)) != 0;
    if ((!letter || begins) && !words.back().empty()) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    before = c;
  }
  return words;
}

bool fits(std::string_view word, std::string_view pattern) {
  return pattern.ends_with('$') ? word == pattern.substr(0, pattern.size() - 1)
                                : word.starts_with(pattern);
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool means_off(const std::string& value) {
  static constexpr auto kOff =
      std::to_array<std::string_view>({"", "0", "off", "no", "none", "false", "n", "f", "never",
                                       "eager", "fp32", "float32", "32", "32-true", "highest"});
  std::string lower;
  for (char c : value) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kOff, lower) != kOff.end() || lower.starts_with("--no-");
}

const std::string& value_at(const TrainerSwitch& knob, std::size_t index) {
  return index == 0 ? knob.value : knob.values[index - 1];
}

std::vector<std::string> fixes_of(const TrainerSwitch& knob) {
  return knob.fixes.empty() ? fixes_for_name(knob.name) : knob.fixes;
}

/// The nearest listed number that reaches `wish`, seen from `now`; else the farthest in that
/// direction.
std::optional<std::size_t> nearest(const TrainerSwitch& knob, double now, double wish) {
  std::optional<std::size_t> best;
  double best_is = 0;
  for (std::size_t i = 0; i <= knob.values.size(); ++i) {
    const std::optional<double> its = number_of(value_at(knob, i));
    if (!its || (wish > now ? *its <= now : *its >= now)) continue;
    const bool reaches = wish > now ? *its >= wish : *its <= wish;
    const bool best_reaches = wish > now ? best_is >= wish : best_is <= wish;
    const bool nearer = std::abs(*its - wish) < std::abs(best_is - wish);
    if (!best || (reaches != best_reaches ? reaches : nearer)) {
      best = i;
      best_is = *its;
    }
  }
  return best;
}

bool is_any(const std::string& value, const std::array<std::string_view, 3>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) {
    return !part.empty() && value.find(part) != std::string::npos;
  });
}

struct Target {
  std::size_t value = 0;
  bool is_meant = true;  ///< exactly the value that the fix has in mind
};

std::vector<Target> targets_of(const TrainerSwitch& knob, std::size_t now,
                               const Forecast& forecast) {
  const auto spoken = std::ranges::find(kSpeaks, forecast.fix, &Speaks::fix);
  const Speaks how = spoken == kSpeaks.end() ? Speaks{forecast.fix} : *spoken;
  const std::optional<double> number = number_of(value_at(knob, now));
  std::optional<double> wish;
  if (how.asks == Asks::kNumber) {
    for (const Change& change : parse_named_switches(forecast.switches).alternatives)
      for (const auto& [name, value] : change)
        if (name == how.number) wish = number_of(value);
  }
  if (how.asks == Asks::kTwice && number) wish = 2 * *number;
  if (how.asks == Asks::kMore && number) wish = *number * (1 + 1e-9) + 1e-9;
  if (wish && number && *wish == *number) return {};  // the argument has that value already
  if (wish && number) {
    const auto best = nearest(knob, *number, *wish);
    if (!best) return {};
    const bool meant = how.asks == Asks::kMore || *number_of(value_at(knob, *best)) == *wish;
    return {{*best, meant}};
  }
  std::vector<Target> result;
  for (std::size_t i = 0; i <= knob.values.size(); ++i)
    if (i != now && is_any(value_at(knob, i), how.meant)) result.push_back({i, true});
  if (!result.empty()) return result;
  if (is_any(value_at(knob, now), how.meant)) return {};
  const bool on = how.asks == Asks::kOn;
  if (on && !means_off(value_at(knob, now))) return {};
  for (std::size_t i = 0; i <= knob.values.size(); ++i)
    if (i != now && !(on && means_off(value_at(knob, i)))) result.push_back({i, false});
  if (result.size() == 1) result.front().is_meant = true;
  return result;
}

double log_of(double gain) {
  return std::log(1 - std::clamp(gain, -4.0, kMostGain));
}

Hint hint_of(std::size_t knob, const Target& target, std::size_t targets,
             const Forecast& forecast) {
  Hint hint;
  hint.knob = knob;
  hint.value = target.value;
  hint.forecast = forecast;
  const double mean = log_of(forecast.certainty * forecast.gain);
  const double width = log_of(forecast.interval.low) - log_of(forecast.interval.high);
  // Only one of several values is meant, and it is not known which.
  hint.log_change = targets > 1 ? mean / 2 : mean;
  hint.sd = std::max(kLeastDoubt * std::min(1.0, std::abs(mean) * 4 + 0.2), width / 4) +
            (1 - forecast.certainty) * std::abs(mean) / 2 +
            (target.is_meant ? 0 : kOtherValue * std::abs(mean));
  return hint;
}

/// Keeps the largest gain for each value: the other predictions are other ways to use the value.
void keep_best(std::vector<Hint>& hints) {
  std::ranges::stable_sort(hints, [](const Hint& a, const Hint& b) {
    return std::pair(a.value, a.log_change) < std::pair(b.value, b.log_change);
  });
  const auto same = [](const Hint& a, const Hint& b) { return a.value == b.value; };
  hints.erase(std::unique(hints.begin(), hints.end(), same), hints.end());
}

/// The recording shows nothing that the argument's fixes address, so no value is known to gain;
/// `ceiling`, if any, gives the upper bound.
std::vector<Hint> nothing_seen(const TrainerSwitches& knobs, std::size_t knob, std::size_t now,
                               const Forecast* not_seen, const Forecast* ceiling) {
  std::vector<Hint> hints;
  const Forecast* by = ceiling ? ceiling : not_seen;
  if (!by) return hints;
  for (std::size_t i = 0; i <= knobs.all[knob].values.size(); ++i) {
    if (i == now) continue;
    const double sd =
        ceiling ? std::max(0.01, -log_of(std::max(0.0, ceiling->interval.high)) / 2) : kNotSeen;
    hints.push_back({knob, i, 0, std::min(kNotSeen, sd), *by, {}, true});
  }
  return hints;
}

bool is_about_input(const std::vector<std::string>& fixes) {
  static constexpr auto kInput = std::to_array<std::string_view>(
      {"use-workers", "more-workers", "deeper-prefetch", "persistent-workers", "tensor-collate",
       "samples-in-memory"});
  return std::ranges::any_of(
      fixes, [](const std::string& fix) { return std::ranges::find(kInput, fix) != kInput.end(); });
}

}  // namespace

std::vector<std::string> fixes_for_name(std::string_view name) {
  const std::vector<std::string> words = words_in(name);
  for (const Named& one : kNamed) {
    if (std::ranges::none_of(words, [&](const std::string& word) { return fits(word, one.word); }))
      continue;
    std::vector<std::string> fixes;
    for (const std::string_view fix : one.fixes)
      if (!fix.empty()) fixes.emplace_back(fix);
    return fixes;
  }
  return {};
}

std::vector<std::string> fixes_asked_for(const TrainerSwitches& knobs) {
  std::vector<std::string> all;
  bool input = false;
  for (const TrainerSwitch& knob : knobs.all) {
    const std::vector<std::string> fixes = fixes_of(knob);
    all.insert(all.end(), fixes.begin(), fixes.end());
    input |= is_about_input(fixes);
  }
  if (input) all.emplace_back("free-input");
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool is_batch_size(const TrainerSwitch& knob) {
  const std::vector<std::string> fixes = fixes_of(knob);
  return std::ranges::find(fixes, "larger-batch") != fixes.end();
}

std::vector<Hint> hints_of(const TrainerSwitches& knobs, const std::vector<std::size_t>& values,
                           const Forecasts& forecasts) {
  std::vector<Hint> all;
  const auto ceiling = std::ranges::find(forecasts.fixes, "free-input", &Forecast::fix);
  for (std::size_t k = 0; k < knobs.all.size(); ++k) {
    const std::vector<std::string> fixes = fixes_of(knobs.all[k]);
    std::vector<Hint> hints;
    const Forecast* not_seen = nullptr;
    for (const Forecast& forecast : forecasts.fixes) {
      if (std::ranges::find(fixes, forecast.fix) == fixes.end()) continue;
      if (!forecast.applies) {
        not_seen = &forecast;
        continue;
      }
      const std::vector<Target> targets = targets_of(knobs.all[k], values[k], forecast);
      for (const Target& target : targets)
        hints.push_back(hint_of(k, target, targets.size(), forecast));
    }
    keep_best(hints);
    if (hints.empty()) {
      const bool bounded =
          ceiling != forecasts.fixes.end() && ceiling->applies && is_about_input(fixes);
      hints = nothing_seen(knobs, k, values[k], not_seen, bounded ? &*ceiling : nullptr);
    }
    for (Hint& hint : hints) hint.by = values;
    all.insert(all.end(), hints.begin(), hints.end());
  }
  return all;
}

}  // namespace headway::tune
