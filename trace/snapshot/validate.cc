// SPDX-License-Identifier: MIT
// Checks that load() could have made a restored trace: everything on which the rest of Headway relies
// without checks.
#include <algorithm>
#include <atomic>

#include "common/parallel.h"
#include "trace/load/assembly.h"
#include "trace/load/foreign_values.h"
#include "trace/snapshot/format.h"

namespace headway::trace::snapshot_detail {
namespace {

template <class Id>
bool in(Id id, std::size_t size) {
  return id.value < size;
}
template <class Id>
bool in_or_none(Id id, std::size_t size) {
  return id.value < size || !id.valid();
}

template <class Enum>
bool known(Enum value) {
  return load_detail::is_value_of<Enum>(static_cast<std::int64_t>(value));
}

template <class Table>
bool columns_fit(const Table& table) {
  bool fit = true;
  std::apply([&](const auto&... column) { ((fit = fit && column.size() == table.size()), ...); },
             const_cast<Table&>(table).columns());  // has no const form; only read here
  return fit;
}

/// Checks that times are in order, and `sound(i)` for the rest of each row i.
template <class Table, class Sound>
bool rows_are_sound(const Table& table, Sound sound) {
  if (table.size() >= UINT32_MAX || !columns_fit(table)) return false;
  if (table.size() == 0) return true;
  if (!load_detail::possible(table.start.front().ns)) return false;
  // In chunks, so that all cores have work.
  constexpr std::size_t kChunk = 1u << 18;
  std::atomic<bool> good = true;
  run_parallel((table.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    std::size_t first = chunk * kChunk;
    std::size_t last = std::min(table.size(), first + kChunk);
    bool fine = true;
    for (std::size_t i = first; i < last; ++i) {
      fine &= i == 0 || table.start[i - 1] <= table.start[i];
      fine &= table.start[i] <= table.end[i] && load_detail::possible(table.end[i].ns);
      fine &= sound(i);
    }
    if (!fine) good = false;
  });
  return good;
}

bool inventory_is_sound(const Trace& t) {
  const std::size_t processes = t.processes.size();
  auto all = [](const auto& rows, auto sound) {
    return std::all_of(rows.begin(), rows.end(), sound);
  };
  return load_detail::possible(t.end.ns) && !t.domains.empty() && t.domains.size() <= UINT16_MAX &&
         all(t.threads, [&](const Thread& x) { return in(x.process, processes); }) &&
         all(t.devices, [&](const Device& x) { return in_or_none(x.process, processes); }) &&
         all(t.streams,
             [&](const Stream& x) {
               return in(x.device, t.devices.size()) && in(x.process, processes);
             }) &&
         all(t.graph_ops, [&](const GraphOp& x) { return in_or_none(x.process, processes); }) &&
         all(t.counters, [&](const CounterSeries& x) {
           return in_or_none(x.process, processes) && x.time.size() == x.value.size() &&
                  std::is_sorted(x.time.begin(), x.time.end()) &&
                  all(x.time, [](TimeNs time) { return load_detail::possible(time.ns); });
         });
}

}  // namespace

std::string problem_of(const Trace& t) {
  const std::size_t texts = t.strings.size();
  if (!inventory_is_sound(t)) return "its inventory contradicts itself";
  const Ranges& r = t.ranges;
  if (!rows_are_sound(r, [&](std::size_t i) {
        return in(r.name[i], texts) && in(r.thread[i], t.threads.size()) &&
               in_or_none(r.parent[i], i) && in_or_none(r.info[i], t.range_info.size()) &&
               in(r.domain[i], t.domains.size());
      }))
    return "it contains an invalid range";
  const DeviceOps& o = t.device_ops;
  if (!rows_are_sound(o, [&](std::size_t i) {
        return in(o.name[i], texts) && in(o.stream[i], t.streams.size()) &&
               in_or_none(o.call[i], t.calls.size()) && known(o.kind[i]) && known(o.phase[i]) &&
               known(o.math_unit[i]) && known(o.source_memory[i]) &&
               known(o.destination_memory[i]) && o.op[i] >= -1 && o.batch[i] >= -1;
      }))
    return "it contains an invalid device op";
  const Calls& c = t.calls;
  if (!rows_are_sound(c, [&](std::size_t i) {
        return in(c.name[i], texts) && in(c.thread[i], t.threads.size()) &&
               in_or_none(c.stream[i], t.streams.size()) && in_or_none(c.op[i], o.size()) &&
               known(c.kind[i]);
      }))
    return "it contains an invalid call";
  const Io& io = t.io;
  if (!rows_are_sound(io, [&](std::size_t i) {
        return in_or_none(io.path[i], texts) && in(io.name[i], texts) && known(io.op[i]) &&
               in(io.thread[i], t.threads.size()) && io.calls[i] > 0 && io.busy[i].ns >= 0 &&
               io.busy[i] <= io.end[i] - io.start[i];
      }))
    return "it contains an invalid I/O call";
  for (const RangeInfo& info : t.range_info) {
    if (!in_or_none(info.shapes, texts) || !in_or_none(info.dtypes, texts) || !known(info.kind) ||
        !known(info.phase))
      return "it contains an invalid range description";
  }
  for (const Collective& x : t.collectives) {
    if (!in_or_none(x.op, o.size()) || !in_or_none(x.range, r.size()) ||
        (!x.op.valid() && !x.range.valid()) || !in(x.kind, texts) ||
        !in_or_none(x.communicator, texts) || !in_or_none(x.dtype, texts) || x.ranks < 0)
      return "it contains an invalid collective";
  }
  for (const Overhead& x : t.overheads) {
    if (!in_or_none(x.thread, t.threads.size()) || !in_or_none(x.name, texts) || !known(x.kind) ||
        x.interval.begin > x.interval.end || !load_detail::possible(x.interval.begin.ns) ||
        !load_detail::possible(x.interval.end.ns))
      return "it contains an invalid overhead";
  }
  return "";
}

}  // namespace headway::trace::snapshot_detail
