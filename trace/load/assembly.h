// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/parallel.h"
#include "trace/trace.h"

/// What every importer needs to build a Trace, for any format: ids made at first use, losses, sorting,
/// nesting, and the joins at the end.
namespace headway::trace::load_detail {

/// Counts by loss counter; each part of a parallel read has its own.
using LossCounts = std::array<std::int64_t, static_cast<std::size_t>(Loss::kCount_)>;
inline void count(LossCounts& losses, Loss loss, std::int64_t n = 1) {
  losses[static_cast<std::size_t>(loss)] += n;
}
/// Whether a recording can have this time.
bool possible(std::int64_t time);
/// False, and counted as a loss, for times that no recording can have; the caller skips the row.
bool usable(LossCounts& losses, std::int64_t start, std::int64_t end);

/// The trace under construction, and the maps from the file's ids to the trace's.
struct Assembly {
  Assembly(Trace& target, int thread_count) : trace(target), threads(thread_count) {}

  Trace& trace;
  int threads;

  // id in the file -> in memory
  std::unordered_map<std::int64_t, ProcessId> process_ids;  ///< by globalPid
  std::unordered_map<std::int64_t, ThreadId> thread_ids;    ///< by globalTid
  std::map<std::tuple<DeviceType, std::int64_t, std::int64_t>, DeviceId> device_ids;
  std::map<std::tuple<DeviceId, ProcessId, std::int64_t>, StreamId> stream_ids;
  LossCounts losses{};
  std::optional<Interval> stretch;  ///< the time that is read; nullopt: all

  void add_losses(const LossCounts& part);
  /// Ids are made at first use, so that a table that mentions an unlisted process or thread still loads.
  ProcessId process(std::int64_t global_pid);
  ThreadId thread(std::int64_t global_tid);
  DeviceId device(DeviceType type, ProcessId process, std::int64_t ordinal);
  StreamId stream(DeviceId device, ProcessId process, std::int64_t ordinal);
};

/// Appends a range of the default domain without RangeInfo; `nest` sets parent and depth. A range with a time that no
/// recording can have is counted and skipped.
void add_range(Assembly& assembly, std::int64_t global_tid, std::int64_t begin, std::int64_t end,
               std::string_view name);

/// Sets parent and depth of the (sorted) ranges, by containment on their thread.
void nest(Trace& trace);
/// Joins calls with ops (`DeviceOps::call` holds the correlation id until then), builds the group
/// indexes, and finishes the losses. Does not sort.
void link(Assembly& assembly);
/// The thread count to use when the user asks for `wanted` (0: any).
int thread_count(int wanted);

/// The permutation that sorts events by start, longer first, then file order; empty when they are
/// sorted already.
std::vector<std::uint32_t> event_order(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end, int threads);

/// Dense ids for keys in the order of their first use, within one part of a parallel read. The parts'
/// ids are replaced by the trace's own afterwards, part by part, so that ids do not depend on the
/// speed of threads.
template <class Key>
class LocalIds {
 public:
  std::uint32_t operator()(const Key& key) {
    if (!keys.empty() && key == last_) return last_id_;
    auto [slot, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
    if (is_new) keys.push_back(key);
    last_ = key;
    return last_id_ = slot->second;
  }
  std::vector<Key> keys;

 private:
  std::map<Key, std::uint32_t> index_;
  Key last_{};
  std::uint32_t last_id_ = 0;
};

template <class Columns>
void reserve_columns(Columns& table, std::size_t rows) {
  std::apply([&](auto&... column) { (column.reserve(rows), ...); }, table.columns());
}

/// Appends the rows of `from` to `to`, column by column; columns not yet filled may be empty on
/// both sides.
template <class Columns>
void append_columns(Columns& to, Columns& from) {
  auto source = from.columns();
  auto target = to.columns();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto one = [](auto& a, auto& b) {
      if (a.empty()) {
        a = std::move(b);
      } else {
        a.insert(a.end(), b.begin(), b.end());
      }
    };
    (one(std::get<I>(target), std::get<I>(source)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(source)>>{});
}

/// Moves the rows of an event table: order[new] = old; empty: nothing moves.
template <class Columns>
void apply_order(Columns& table, const std::vector<std::uint32_t>& order, int threads) {
  if (order.empty()) return;
  std::vector<std::function<void()>> tasks;
  std::apply(
      [&](auto&... column) {
        auto add = [&](auto& values) {
          if (values.empty()) return;
          tasks.push_back([&values, &order] {
            std::remove_cvref_t<decltype(values)> sorted;
            sorted.reserve(values.size());
            for (std::uint32_t from : order) sorted.push_back(values[from]);
            values = std::move(sorted);
          });
        };
        (add(column), ...);
      },
      table.columns());
  run_parallel(
      tasks.size(), [&](std::size_t i) { tasks[i](); }, threads);
}

/// Sorts an event table by start, longer first, then file order. Returns the order it applied.
template <class Columns>
std::vector<std::uint32_t> sort_events(Columns& table, int threads) {
  std::vector<std::uint32_t> order = event_order(table.start, table.end, threads);
  apply_order(table, order, threads);
  return order;
}

/// The same for the device ops, which come from several tables. Of ops with the same start and end,
/// CUDA's kernels come first, then copies, then memsets, so that saving to those tables keeps the
/// order. Streams and devices must be known.
std::vector<std::uint32_t> sort_device_ops(Trace& trace, int threads);

/// globalPid of a globalTid, and the halves of the packing pid << 24 | tid.
constexpr std::int64_t global_pid_of(std::int64_t global_tid) {
  return global_tid & ~std::int64_t{0xffffff};
}
constexpr std::int32_t pid_of(std::int64_t global_id) {
  return static_cast<std::int32_t>(global_id >> 24 & 0xffffff);
}
constexpr std::int32_t tid_of(std::int64_t global_tid) {
  return static_cast<std::int32_t>(global_tid & 0xffffff);
}

}  // namespace headway::trace::load_detail
