// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "gui/models/timeline/bit_rank.h"
#include "trace/trace.h"

namespace headway::gui {

/// Returns true if a text of the trace matches.
using TextMatcher = std::function<bool(std::string_view)>;
/// Matches texts that contain `needle`, ignoring the case of ASCII letters. A needle in double
/// quotes must equal the whole text exactly.
TextMatcher substring_matcher(std::string_view needle);

/// All events whose name, or whose op of the model, matches. Made on any thread, then immutable.
/// Needs two bits per event, even if every event matches.
class Search {
 public:
  /// Has no hits when `*cancelled` becomes true. `needle` is the text that the user typed.
  Search(const trace::Trace& trace, const analyzer::Analysis& analysis, std::string_view needle,
         const TextMatcher& wanted, const std::atomic<bool>* cancelled = nullptr);
  Search(const trace::Trace& trace, const analyzer::Analysis& analysis, std::string_view needle,
         const std::atomic<bool>* cancelled = nullptr)
      : Search(trace, analysis, needle, substring_matcher(needle), cancelled) {}

  const std::string& needle() const { return needle_; }
  std::size_t hits() const { return hits_; }
  bool matches(analyzer::EventRef event) const;

  /// The nearest hit after (before) `from` by start time; continues from the other end of the
  /// trace. If `from` is none, the first hit (the last one when going backward).
  std::optional<analyzer::EventRef> next(analyzer::EventRef from, bool forward) const;
  /// All hits by start; `visit` returns false to stop.
  template <class Visit>
  void for_each(Visit visit) const {
    std::array<std::optional<std::size_t>, 3> at;
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = matches_[k].next(0);
    for (;;) {
      std::size_t first = at.size();
      TimeNs earliest;
      for (std::size_t k = 0; k < at.size(); ++k) {
        if (!at[k]) continue;
        const TimeNs start = start_of(k, *at[k]);
        if (first == at.size() || start < earliest) {
          first = k;
          earliest = start;
        }
      }
      if (first == at.size()) return;
      const analyzer::EventRef event{static_cast<analyzer::EventRef::Kind>(first + 1),
                                     static_cast<std::uint32_t>(*at[first])};
      if (!visit(event)) return;
      at[first] = matches_[first].next(*at[first] + 1);
    }
  }
  /// 1 for the first hit by start; 0 when the event is no hit. O(log n).
  std::size_t position(analyzer::EventRef event) const;

 private:
  const BitRank& of(analyzer::EventRef::Kind kind) const {
    return matches_[static_cast<std::size_t>(kind) - 1];
  }

  /// `kind`: as in `matches_`.
  TimeNs start_of(std::size_t kind, std::size_t row) const {
    return kind == 0   ? trace_->ranges.start[row]
           : kind == 1 ? trace_->device_ops.start[row]
                       : trace_->calls.start[row];
  }

  const trace::Trace* trace_;
  std::string needle_;
  std::array<BitRank, 3> matches_;  ///< by kind of event, then by row of its table
  std::size_t hits_ = 0;
};

/// The next event of the same kind and name by start time; none when there is no other.
std::optional<analyzer::EventRef> next_of_same_name(const trace::Trace& trace,
                                                    analyzer::EventRef from, bool forward);

}  // namespace headway::gui
