// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "trace/import/kineto/record.h"
#include "trace/import/kineto/texts.h"
#include "trace/import/kineto/vocabulary.h"
#include "trace/load/assembly.h"

namespace headway::trace::kineto {

using load_detail::count;

/// A process or thread as the file names it: a number, or the id of a text.
struct Name {
  std::int64_t value = 0;
  bool is_text = false;
  auto operator<=>(const Name&) const = default;
};

/// The pid and tid of a row of the file.
struct Track {
  Name pid;
  Name tid;
  bool on_device = false;  ///< pid is a device, tid a stream
  auto operator<=>(const Track&) const = default;
};

/// A stream by the program's ordinals, as in the file.
struct StreamName {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  auto operator<=>(const StreamName&) const = default;
};

/// Dense ids for keys, in the order of first use; made for few distinct keys and millions of
/// look-ups.
template <class Key>
class SmallIds {
 public:
  std::uint32_t operator()(const Key& key) {
    if (last_ < keys.size() && keys[last_] == key) return last_;
    for (last_ = 0; last_ < keys.size(); ++last_) {
      if (keys[last_] == key) return last_;
      if (last_ == kLinear) return last_ = find_far(key);
    }
    keys.push_back(key);
    return last_;
  }
  std::vector<Key> keys;

 private:
  static constexpr std::uint32_t kLinear = 32;
  std::uint32_t find_far(const Key& key) {
    for (auto id = static_cast<std::uint32_t>(far_.size()) + kLinear; id < keys.size(); ++id)
      far_.emplace(keys[id], id);
    auto [slot, is_new] = far_.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
    if (is_new) keys.push_back(key);
    return slot->second;
  }
  std::map<Key, std::uint32_t> far_;  ///< the keys from kLinear on
  std::uint32_t last_ = 0;
};

struct SyncRow {
  std::uint32_t correlation;
  std::uint64_t record;  ///< correlation of the event record waited for; 0 none
  StreamName stream;     ///< stream < 0: the whole device
};
/// As Merged::Flow, with ids of the part.
struct FlowEnd {
  std::uint64_t id;
  std::uint32_t track;
  std::int64_t time;
  bool begins;
};
struct OverheadRow {
  std::int64_t start;
  std::int64_t end;
  std::uint32_t name;   ///< id in Part::texts; also in the structs below
  std::uint32_t track;  ///< id in Part::tracks; also in the structs below
};
struct MemoryRow {
  std::int64_t time;       ///< in the file's unit, as all times of a part
  std::int64_t device;     ///< -1: the host
  std::int64_t allocated;  ///< bytes in tensors
  std::int64_t reserved;   ///< bytes that the allocator holds
};
struct CounterRow {
  std::int64_t time;
  Name pid;
  std::uint32_t name;    ///< of the event
  std::uint32_t series;  ///< of the value in its args
  double value;
};
/// Begin or end of a range whose two halves are separate records (ph B/E, b/e).
struct HalfRow {
  std::int64_t time;
  std::uint64_t id;  ///< of async pairs; 0 for B/E
  std::uint32_t track;
  std::uint32_t name;
  std::uint32_t domain;
  bool begins;
  bool async;
};
struct CollectiveRow {
  std::uint32_t kind, group, dtype;                  ///< ids in Part::texts
  std::int64_t in_elements, out_elements, sequence;  ///< kAbsent: not in the file
  std::int32_t ranks, peer;                          ///< 0 and -1: not in the file
};
/// From the profiler's Python tracer: the call that made a call.
struct PythonCall {
  std::int64_t id;
  std::int64_t parent;
};
struct MetadataRow {
  std::uint32_t what;  ///< text: "process_name", …
  std::uint32_t value;
  Track track;
};

/// The unit of times in this file.
struct TimeFormat {
  int scale = 3;  ///< power of ten from the file's unit to ns: 3 for µs
};

/// The content of one part of the file. Until the merge, ids of names, tracks, streams, domains and
/// infos are the part's own, and times are the file's. Until then some columns carry other values
/// (the carrier columns): `DeviceOps::call` the correlation id, `DeviceOps::op` the row in
/// `collectives`, `Ranges::parent` a row in `collectives`, or in `python` when kPython is set.
struct Part {
  static constexpr std::uint32_t kPython = std::uint32_t{1} << 31;

  Texts texts;
  SmallIds<Track> tracks;
  SmallIds<StreamName> streams;
  SmallIds<std::uint32_t> domains;  ///< by text
  Ranges ranges;
  std::vector<RangeInfo> infos;  ///< shapes and dtypes: ids of texts
  Calls calls;
  DeviceOps ops;
  std::vector<SyncRow> syncs;
  std::vector<FlowEnd> autograd_flows;
  std::vector<FlowEnd> launch_flows;
  std::vector<OverheadRow> overheads;
  std::vector<MemoryRow> memory;
  std::vector<CounterRow> counters;
  std::vector<HalfRow> halves;
  std::vector<CollectiveRow> collectives;
  std::vector<PythonCall> python;
  std::vector<MetadataRow> metadata;
  load_detail::LossCounts losses{};
  /// The first and last time of all events; if first_time > last_time, there is no event.
  std::int64_t first_time = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_time = std::numeric_limits<std::int64_t>::min();
  std::int64_t median_hint = 0;    ///< time of any event in the middle
  std::int64_t records = 0;        ///< number of records that were filed
  std::int64_t malformed_at = -1;  ///< offset of the first record that is not JSON; -1: none
  std::string malformed_why;
};

/// Files records by their kind. One object per part.
class Filing {
 public:
  Filing(Part& part, TimeFormat format, bool keep_launch_flows)
      : part_(part), format_(format), keep_launch_flows_(keep_launch_flows) {}
  /// False: the record is unusable (no phase or no time); the caller counts it.
  bool add(const Record& record);

 private:
  struct KnownCategory {
    std::string text;
    Category category;
    std::uint32_t domain;
  };
  /// Looks in a list of the categories seen so far: a file has only a few.
  const KnownCategory& category(std::string_view text);
  std::uint32_t text(std::string_view token);
  Name name_of(std::string_view token);
  Track track_of(const Record& record);
  std::uint32_t track(const Record& record) { return part_.tracks(track_of(record)); }
  StreamName stream_of(const Record& record);
  /// Widens the part's times; false, and counted as a loss, for an end before its start.
  bool seen(std::int64_t start, std::int64_t end);

  void add_complete(const Record& record, const KnownCategory& known, std::int64_t start,
                    std::int64_t end, std::uint8_t flags);
  void add_range(const Record& record, const KnownCategory& known, std::int64_t start,
                 std::int64_t end, std::uint8_t flags);
  void add_call(const Record& record, std::int64_t start, std::int64_t end);
  void add_op(const Record& record, Content content, std::int64_t start, std::int64_t end);
  void add_sync(const Record& record);
  void add_memory(const Record& record, std::int64_t time);
  void add_counters(const Record& record, std::int64_t time);
  void add_flow(const Record& record, const KnownCategory& known, std::int64_t time);
  void add_half(const Record& record, const KnownCategory& known, std::int64_t time);
  void add_metadata(const Record& record);
  std::uint32_t add_collective(const Args& args);
  RangeInfoId info_of(const Record& record, const KnownCategory& known);

  Part& part_;
  TimeFormat format_;
  bool keep_launch_flows_;
  std::vector<KnownCategory> categories_;
  std::unordered_map<std::uint64_t, RangeInfoId> shared_infos_;  ///< by shapes and dtypes
  std::vector<std::int8_t> copy_known_;
  std::vector<CopyKind> copy_kinds_;  ///< by name
};

}  // namespace headway::trace::kineto
