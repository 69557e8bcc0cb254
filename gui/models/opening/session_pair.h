// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/diff/diff.h"
#include "gui/models/opening/session.h"

namespace headway::gui {

/// The two traces of a comparison: A is the baseline, B is judged.
enum class Side : std::uint8_t { kA, kB };
constexpr Side other(Side side) {
  return side == Side::kA ? Side::kB : Side::kA;
}

/// A step of A beside one of B: indexes into the bars of each side's first step chart.
struct StepPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool operator==(const StepPair&) const = default;
};

/// The time of one class in the mean steady step of each side; in the whole span without steps.
struct ClassChange {
  analyzer::TimeClass time_class = analyzer::TimeClass::kUnknown;
  DurationNs a;
  DurationNs b;
  DurationNs change() const { return b - a; }
};

/// Two open traces and what changed from A to B. Immutable; times are those of each trace.
struct SessionPair {
  std::array<std::shared_ptr<const Session>, 2> sessions;  ///< by Side
  analyzer::Diff diff;
  std::vector<ClassChange> classes;  ///< classes with time on either side, in their order

  const Session& session(Side side) const { return *sessions[static_cast<std::size_t>(side)]; }
  /// The bars of the first device that has steps, else of the host; empty without steps.
  const std::vector<StepBar>& bars(Side side) const;
  bool has_steps() const { return !bars(Side::kA).empty() && !bars(Side::kB).empty(); }
  DurationNs total(Side side) const;  ///< the sum of `classes`
  /// The classes that changed by a thousandth of the longer step or more, largest change first.
  std::vector<ClassChange> changed_classes() const;

  /// The steady steps of median length of each side; the first steps if none is steady. None unless
  /// both sides have steps.
  std::optional<StepPair> median_steps() const;
  /// The steps with this number, as the program counts, on both sides.
  std::optional<StepPair> steps_numbered(std::int64_t number) const;
  /// Both sides one step forward or back; the same pair if a side has no more steps.
  StepPair stepped(StepPair pair, bool forward) const;
  /// The intervals to align: the steps, or the whole device time of each side without steps.
  Interval interval(Side side, std::optional<StepPair> pair) const;

  /// Where a row of the diff's table `table` is found on one side: inside the pair's step, else the
  /// longest event of all steady steps. None if that side has no such event, and for tables whose
  /// rows are not events. `row` is an index into Table::rows.
  Target place_of(Side side, std::string_view table, std::size_t row,
                  std::optional<StepPair> pair) const;
  /// The longest stretch of a class in the pair's step; none if the side has none there.
  Target place_of(Side side, analyzer::TimeClass time_class, std::optional<StepPair> pair) const;
  /// The event of the other side that does the same work as a device op: the same op of the model
  /// or kernel with the same repetition number since the step began. None without such an event,
  /// and without steps.
  Target counterpart(Side from, const Target& target, std::optional<StepPair> pair) const;

 private:
  friend std::shared_ptr<const SessionPair> make_session_pair(std::shared_ptr<const Session>,
                                                              std::shared_ptr<const Session>);
  /// The rows of a table, indexed by the properties of a device op.
  struct RowIndex {
    std::vector<std::uint32_t> row_of;          ///< by OpId or StringId; kNoRow
    std::vector<trace::DeviceOpId> longest_of;  ///< by row
  };
  static constexpr std::uint32_t kNoRow = UINT32_MAX;
  struct Rows {
    RowIndex ops;
    RowIndex kernels;
  };
  void index_rows(Side side);
  std::uint32_t row_of(Side side, bool by_op, std::uint32_t device_op) const;
  template <class Visit>
  void for_each_op(Side side, Interval where, Visit visit) const;

  std::array<Rows, 2> rows_;  ///< by Side
};

/// Compares two open traces. Cost: linear in the device ops of both. Any thread.
std::shared_ptr<const SessionPair> make_session_pair(std::shared_ptr<const Session> a,
                                                     std::shared_ptr<const Session> b);

}  // namespace headway::gui
