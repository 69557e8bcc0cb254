// SPDX-License-Identifier: MIT
// A rank that keeps the others waiting takes for everything what its peers take. Ranks of one job do the same
// things in the same order, so the n-th piece of work of a stream or thread is matched with the n-th of theirs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A rank is slow when its work takes this much more than that of the rank in the middle.
constexpr double kSlow = 1.02;

/// What one point of a rank adds: an op's or call's own time, or a pause of its thread (cut in parts).
struct Piece {
  std::vector<Constraint> parts;
  DurationNs own;
};

/// The pieces of one rank: by stream or thread, in the order in which the process made those.
struct RankWork {
  std::int32_t rank = -1;
  std::map<std::pair<bool, std::uint32_t>, std::vector<Piece>> rows;  ///< of a thread?, which
  DurationNs total;
};

class Collector {
 public:
  explicit Collector(const Predictor& predictor)
      : program_(predictor.program()),
        points_(program_.graph().points()),
        trace_(predictor.trace()),
        launches_(trace_.threads.size()),
        work_(trace_.processes.size()) {
    for (ThreadId thread : trace_.calls.thread) launches_[thread.value] = true;
    for (std::size_t p = 0; p < work_.size(); ++p) work_[p].rank = trace_.processes[p].rank;
    std::vector<Constraint> parts;
    for (std::uint32_t s = 0; s < program_.size(); ++s) {
      program_.for_each(Slot{s}, [&](const Constraint& constraint) {
        if (constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kThreadOrder)
          parts.push_back(constraint);
      });
      const PointId point = program_.point_of(Slot{s});
      if (!point.valid()) continue;
      add(task_of(point), parts);
      parts.clear();
    }
  }
  /// Of the processes that are ranks.
  std::vector<RankWork> take() {
    std::erase_if(work_, [](const RankWork& one) { return one.rank < 0 || one.rows.empty(); });
    return std::move(work_);
  }

 private:
  void add(TaskId task, const std::vector<Constraint>& parts) {
    Piece piece{parts, {}};
    for (const Constraint& part : parts) piece.own += part.lag;
    if (const DeviceOpId op = points_.op_of(task); op.valid()) {
      const Stream& stream = trace_.streams[trace_.device_ops.stream[op.value].value];
      put(stream.process, false, static_cast<std::uint32_t>(stream.ordinal), std::move(piece));
      return;
    }
    const ThreadId thread = points_.thread_of(task);
    if (!thread.valid() || !launches_[thread.value]) return;
    const ProcessId process = trace_.threads[thread.value].process;
    std::uint32_t which = 0;
    for (std::uint32_t t = 0; t < thread.value; ++t)
      which += trace_.threads[t].process == process && launches_[t] ? 1 : 0;
    put(process, true, which, std::move(piece));
  }
  void put(ProcessId process, bool thread, std::uint32_t which, Piece piece) {
    RankWork& work = work_[process.value];
    work.total += piece.own;
    work.rows[{thread, which}].push_back(std::move(piece));
  }

  const Program& program_;
  const Points& points_;
  const Trace& trace_;
  std::vector<bool> launches_;  ///< by thread: it makes calls of a device
  std::vector<RankWork> work_;  ///< by process
};

DurationNs middle_of(std::vector<DurationNs>& values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void set_piece(Editor& editor, const Piece& piece, DurationNs to) {
  const double by = piece.own.ns > 0 ? ratio(to, piece.own) : 0;
  for (const Constraint& part : piece.parts)
    editor.set_lag(part.id, {std::llround(by * static_cast<double>(part.lag.ns))});
}

Proposal propose(const Predictor& predictor) {
  std::vector<RankWork> ranks = Collector(predictor).take();
  if (ranks.size() < 2) return not_here("the recording has one rank");
  std::vector<DurationNs> totals;
  for (const RankWork& one : ranks) totals.push_back(one.total);
  const DurationNs usual = middle_of(totals);
  Editor editor(predictor);
  std::string slow;
  bool matched = false;
  for (const RankWork& one : ranks) {
    if (ratio(one.total, usual) < kSlow) continue;
    slow += fmt::format("{}{}", slow.empty() ? "" : ", ", one.rank);
    for (const auto& [row, pieces] : one.rows) {
      std::vector<const std::vector<Piece>*> peers;
      for (const RankWork& other : ranks) {
        const auto at = other.rows.find(row);
        if (&other != &one && at != other.rows.end() && at->second.size() == pieces.size())
          peers.push_back(&at->second);
      }
      if (peers.empty()) continue;
      matched = true;
      std::vector<DurationNs> theirs(peers.size());
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::ranges::transform(peers, theirs.begin(),
                               [&](const auto* peer) { return (*peer)[i].own; });
        set_piece(editor, pieces[i], middle_of(theirs));
      }
    }
  }
  if (slow.empty()) return not_here("no rank takes 2 % longer than the one in the middle");
  if (!matched) return not_here(fmt::format("rank {} does other work than its peers", slow));
  return {true, fmt::format("rank {} takes for each piece of work what its peers take", slow),
          editor.take()};
}

}  // namespace

const Fix kEvenRanks{
    "even-ranks",
    "Let the slow rank do as its peers",
    "straggler",
    FixKind::kModelled,
    0.1,
    "",
    "Of a rank whose work takes 2 % longer than that of the rank in the middle, each op, "
    "call and pause takes what the same one takes on the other ranks.",
    "why the rank is slow",
    propose};

}  // namespace headway::analyzer
