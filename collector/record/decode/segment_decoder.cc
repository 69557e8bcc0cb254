// SPDX-License-Identifier: MIT
#include "collector/record/decode/segment_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/nvtx_conventions.h"
#include "common/text.h"

namespace headway::record {
namespace {

// ENUM_NSYS_EVENT_TYPE values of NVTX_EVENTS.eventType.
constexpr std::int32_t kEventMark = 34;
constexpr std::int32_t kEventPushPop = 59;
constexpr std::int32_t kEventStartEnd = 60;

// Deeper than any program nests ranges: protects against damaged memory.
constexpr std::size_t kMaxDepth = 1u << 20;
// When this many ends wait for their starts, those starts will never come.
constexpr std::size_t kMaxEarlyEnds = 1u << 16;

// Stamps lie before the newest reading of the clocks, up to the error of that reading.
constexpr DurationNs kTolerance{1'000'000};

// NVTX payload ABI (nvToolsExtPayload.h).
constexpr std::uint64_t kEntryIsMessage = 1u << 10;
constexpr std::uint64_t kTypeRegisteredString = 80;
constexpr std::uint64_t kFirstSchemaId = 1u << 24;
/// Memory that other payloads of the event point into.
constexpr std::uint64_t kReferencedOnly = 1022;

void set_payload_value(trace::tables::NvtxEvents::Row& row, wire::PayloadKind kind,
                       std::uint64_t bits) {
  auto low = static_cast<std::uint32_t>(bits);
  switch (kind) {
    case wire::PayloadKind::kUint64:
      row.uint64_value = static_cast<std::int64_t>(bits);
      break;
    case wire::PayloadKind::kInt64:
      row.int64_value = static_cast<std::int64_t>(bits);
      break;
    case wire::PayloadKind::kDouble:
      row.double_value = std::bit_cast<double>(bits);
      break;
    case wire::PayloadKind::kUint32:
      row.uint32_value = low;
      break;
    case wire::PayloadKind::kInt32:
      row.int32_value = static_cast<std::int32_t>(low);
      break;
    case wire::PayloadKind::kFloat:
      row.float_value = static_cast<double>(std::bit_cast<float>(low));
      break;
    case wire::PayloadKind::kNone:
    case wire::PayloadKind::kBlobs:
      break;
  }
}

/// A schema for a payload of a predefined type: one unnamed entry of that type.
trace::PayloadSchema single_value_schema(std::uint64_t type, std::size_t bytes) {
  trace::PayloadSchema schema;
  trace::PayloadEntry& entry = schema.entries.emplace_back();
  entry.type = type;
  entry.name = "value";
  bool text = !trace::payload_type_size(type) || type == 75 || type == 76;
  if (text) entry.array_or_union_detail = bytes;
  return schema;
}

}  // namespace

SegmentDecoder::SegmentDecoder(std::int32_t pid, DomainNumbers& domains, GpuNumbers& gpus,
                               ProcessTable& processes, CounterTable& counters,
                               const TimeAxis& axis, wire::Clock clock, TraceSink& sink,
                               Scope& scope)
    : pid_(pid),
      processes_(processes),
      axis_(axis),
      clock_(clock),
      sink_(sink),
      definitions_(global_pid(pid), domains, sink),
      activity_(pid, definitions_, gpus, processes, counters, axis, sink, scope),
      io_(global_pid(pid), definitions_, sink),
      counters_(global_pid(pid), definitions_, counters),
      scope_(scope),
      watch_(pid, definitions_, scope) {}

bool SegmentDecoder::read_definitions(const SegmentData& data) {
  if (!definitions_.read(data.definitions)) return false;
  for (auto& [tid, name] : definitions_.take_thread_names())
    processes_.thread_named(pid_, tid, name);
  return true;
}

void SegmentDecoder::watch(const SegmentData& data) {
  std::span<const std::byte> records(data.records);
  for (const RingSlice& slice : data.slices) {
    std::span<const std::byte> bytes = records.subspan(slice.offset, slice.bytes);
    while (!bytes.empty()) {
      std::optional<RecordView> view = next_record(bytes);
      TimeNs time;
      if (!view || !to_time(view->record.time, time)) return;  // read_records() reports the damage
      if (view->record.type == static_cast<std::uint8_t>(wire::RecordType::kThreadBegin)) {
        // Now, while the system still knows the thread's name.
        processes_.thread_seen(pid_, static_cast<std::int32_t>(view->record.value));
        watch_.begin_thread(slice.ring, time);
      } else if (scope_.options().by_records()) {
        watch_.record(slice.ring, *view, time);
      }
    }
  }
}

bool SegmentDecoder::read_records(const SegmentData& data) {
  std::span<const std::byte> records(data.records);
  for (const RingSlice& slice : data.slices) {
    Ring& ring = rings_[slice.ring];
    ring.index = slice.ring;
    if (!read_ring(ring, records.subspan(slice.offset, slice.bytes))) return false;
  }
  activity_.read(data);
  return true;
}

bool SegmentDecoder::read_ring(Ring& ring, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::optional<RecordView> view = next_record(bytes);
    TimeNs time;
    if (!view || !to_time(view->record.time, time) || !read_record(ring, *view, time)) return false;
  }
  return true;
}

bool SegmentDecoder::to_time(std::uint64_t stamp, TimeNs& time) const {
  TimeNs latest = axis_.from_monotonic(axis_.newest().monotonic_ns);
  if (clock_ == wire::Clock::kTsc) {
    time = axis_.from_tsc(stamp);
    return time.ns >= 0 && time <= latest + kTolerance;
  }
  time = axis_.from_realtime(static_cast<std::int64_t>(stamp));
  if (time.ns >= 0 && time <= latest + kTolerance) return true;
  // A stamp from around a step of the wall clock may be off by that step: not treated as damage.
  time = latest;
  return axis_.clock_steps() > 0;
}

bool SegmentDecoder::read_record(Ring& ring, const RecordView& view, TimeNs time) {
  auto type = static_cast<wire::RecordType>(view.record.type);
  if (type == wire::RecordType::kThreadBegin) {
    begin_thread(ring, static_cast<std::int32_t>(view.record.value));
    return true;
  }
  if (ring.tid == 0 || !definitions_.has_domain(view.record.domain)) return false;
  if (type == wire::RecordType::kThreadEnd) {
    end_thread(ring);
    return true;
  }
  ++ring.records;
  switch (type) {
    case wire::RecordType::kPush: {
      std::vector<OpenRange>& stack = ring.stacks[view.record.domain];
      if (stack.size() >= kMaxDepth) return false;
      // On a coarse clock a range may begin and end at the same times as the range around it: one
      // nanosecond keeps the nesting visible.
      if (!stack.empty()) time = std::max(time, TimeNs{stack.back().row.start + 1});
      stack.push_back(open(ring, view, time, kEventPushPop));
      return true;
    }
    case wire::RecordType::kPop:
      return pop(ring, view, time);
    case wire::RecordType::kMark:
      mark(ring, view, time);
      return true;
    case wire::RecordType::kStart: {
      OpenRange range = open(ring, view, time, kEventStartEnd);
      range.row.range_id = static_cast<std::int64_t>(view.record.value);
      auto early = early_ends_.find(view.record.value);
      if (early == early_ends_.end()) {
        ranges_[view.record.value] = std::move(range);
        return true;
      }
      range.row.end_global_tid = early->second.global_tid;
      range.json.add(early->second.json);
      write(range, std::max(time.ns, early->second.end));
      early_ends_.erase(early);
      return true;
    }
    case wire::RecordType::kEnd:
      end_range(ring, view, time);
      return true;
    case wire::RecordType::kIo:
      return io(ring, view, time);
    case wire::RecordType::kCapture:
      return true;
    case wire::RecordType::kCounter:
      if (!scope_.keeps(pid_, time)) return true;
      if (!counters_.write(view, time))
        sink_.count_loss(trace::Loss::kNvtxUnknownHandle, 1, global_pid(pid_));
      return true;
    default:
      return false;
  }
}

void SegmentDecoder::begin_thread(Ring& ring, std::int32_t tid) {
  end_thread(ring);  // the ring's last thread may have died without a kThreadEnd
  ring.tid = tid;
  processes_.thread_seen(pid_, tid);
}

void SegmentDecoder::end_thread(Ring& ring) {
  for (auto& [domain, stack] : ring.stacks) {
    for (OpenRange& range : stack) write(range, std::nullopt);
  }
  processes_.add_records(pid_, ring.records);
  busiest_ = std::max(busiest_, ring.records);
  const std::uint32_t index = ring.index;
  ring = {};
  ring.index = index;
}

SegmentDecoder::OpenRange SegmentDecoder::open(const Ring& ring, const RecordView& view,
                                               TimeNs time, std::int32_t event_type) {
  OpenRange range;
  trace::tables::NvtxEvents::Row& row = range.row;
  row.start = time.ns;
  std::optional<std::int64_t> step = watch_.take_step(ring.index, view.record.time);
  range.kept = scope_.keeps(pid_, time);
  // The name of a range that is not kept is not stored either.
  if (!range.kept) return range;
  count_cut(view);
  row.event_type = event_type;
  row.global_tid = global_tid(ring);
  row.domain_id = definitions_.domain_number(view.record.domain);
  if (view.category != 0) row.category = view.category;
  if (view.record.flags & wire::kHasColor) row.color = view.record.color;
  if (view.record.flags & wire::kTextInline) row.text_id = sink_.intern(view.text);
  if (view.record.flags & wire::kTextHandle) {
    row.text_id = definitions_.string(view.record.text);
    if (!row.text_id) sink_.count_loss(trace::Loss::kNvtxUnknownHandle, 1, global_pid(pid_));
  }
  set_payload_value(row, view.payload_kind, view.payload);
  if (!view.blobs.empty()) range.json = to_json(view.record.domain, view.blobs, &range);
  if (step) declare_step(range, *step);
  return range;
}

void SegmentDecoder::count_cut(const RecordView& view) {
  if (view.record.flags & wire::kCut)
    sink_.count_loss(trace::Loss::kNvtxPayloadCut, 1, global_pid(pid_));
}

void SegmentDecoder::declare_step(OpenRange& range, std::int64_t number) {
  if (std::holds_alternative<std::monostate>(range.meaning)) {
    trace::tables::RangeInfo::Row info;
    info.kind = static_cast<std::int32_t>(conventions::RangeKind::kStep);
    range.meaning = info;
  }
  if (auto* info = std::get_if<trace::tables::RangeInfo::Row>(&range.meaning); info && !info->step)
    info->step = number;
}

std::string SegmentDecoder::message_in_payload(const KnownSchema& known,
                                               std::span<const std::byte> payload) {
  for (const trace::PayloadEntry& entry : known.schema.entries) {
    if (!(entry.flags & kEntryIsMessage)) continue;
    trace::PayloadField field = trace::PayloadField::find(known.schema, entry.name);
    if (entry.type == kTypeRegisteredString) {
      // Our handles carry the id in their lower half (inject/handles.h).
      const std::string* text =
          definitions_.string_text(static_cast<std::uint32_t>(field.integer(payload, 0)));
      return text ? *text : std::string();
    }
    return std::string(field.text(payload));
  }
  return {};
}

void SegmentDecoder::Json::add(std::string_view object) {
  if (count++ > 0) objects += ",";
  objects += object;
}

void SegmentDecoder::Json::add(const Json& other) {
  if (other.count == 0) return;
  if (count > 0) objects += ",";
  objects += other.objects;
  count += other.count;
}

SegmentDecoder::Json SegmentDecoder::to_json(std::uint16_t domain, std::span<const std::byte> blobs,
                                             OpenRange* range) {
  Json json;
  DomainReferences references(definitions_, domain);
  std::vector<trace::PayloadBlob> event;
  auto whole_event = [&]() -> std::span<const trace::PayloadBlob> {
    if (event.empty()) {
      for_each_blob(blobs, [&](std::uint64_t id, std::span<const std::byte> payload) {
        event.push_back({id, payload});
      });
    }
    return event;
  };
  for_each_blob(blobs, [&](std::uint64_t id, std::span<const std::byte> payload) {
    const KnownSchema* known = definitions_.schema(domain, id);
    if (known && known->convention && range) {
      Meaning meaning = known->convention->meaning(payload);
      if (!std::holds_alternative<std::monostate>(meaning)) {
        range->meaning = meaning;
        return;
      }
    }
    if (known && range && !range->row.text_id) {
      std::string message = message_in_payload(*known, payload);
      if (!message.empty()) range->row.text_id = sink_.intern(message);
    }
    if (!known && id >= kFirstSchemaId) {
      sink_.count_loss(trace::Loss::kNvtxUnknownHandle, 1, global_pid(pid_));
      return;
    }
    if (id == kReferencedOnly) return;
    json.add(trace::payload_to_json(known ? known->schema : single_value_schema(id, payload.size()),
                                    payload, &references, whole_event()));
  });
  return json;
}

bool SegmentDecoder::pop(Ring& ring, const RecordView& view, TimeNs time) {
  auto stack = ring.stacks.find(view.record.domain);
  // The process writes a pop only for a push that it has written.
  if (stack == ring.stacks.end() || stack->second.empty()) return false;
  OpenRange range = std::move(stack->second.back());
  stack->second.pop_back();
  if (range.kept) {
    count_cut(view);
    if (!view.blobs.empty()) range.json.add(to_json(view.record.domain, view.blobs, &range));
  }
  const std::int64_t end = std::max({range.row.start, time.ns, range.least_end});
  if (!stack->second.empty()) {
    OpenRange& around = stack->second.back();
    around.least_end = std::max(around.least_end, end);
  }
  write(range, end);
  return true;
}

void SegmentDecoder::mark(const Ring& ring, const RecordView& view, TimeNs time) {
  bool described = false;
  for_each_blob(view.blobs, [&](std::uint64_t id, std::span<const std::byte> payload) {
    const KnownSchema* known = definitions_.schema(view.record.domain, id);
    if (!known || !known->convention) return;
    if (known->convention->is_nccl_op() && !scope_.keeps(pid_, time)) {
      described = true;
      return;
    }
    described |= known->convention->write_mark(
        payload, {global_pid(pid_), global_tid(ring), time.ns}, sink_);
  });
  if (described) return;
  OpenRange point = open(ring, view, time, kEventMark);
  // Of the conventions for ranges only a sample applies to a point in time.
  const auto* info = std::get_if<trace::tables::RangeInfo::Row>(&point.meaning);
  if (!info || info->kind != static_cast<std::int64_t>(conventions::RangeKind::kSample))
    point.meaning = std::monostate();
  write(point, std::nullopt);
}

void SegmentDecoder::end_range(const Ring& ring, const RecordView& view, TimeNs time) {
  Json json = to_json(view.record.domain, view.blobs, nullptr);
  auto found = ranges_.find(view.record.value);
  if (found == ranges_.end()) {
    if (early_ends_.size() < kMaxEarlyEnds)
      early_ends_[view.record.value] = {time.ns, global_tid(ring), std::move(json)};
    else
      sink_.count_loss(trace::Loss::kNvtxPopWithoutPush, 1, global_pid(pid_));
    return;
  }
  OpenRange range = std::move(found->second);
  ranges_.erase(found);
  if (range.kept) count_cut(view);
  range.row.end_global_tid = global_tid(ring);
  range.json.add(json);
  write(range, std::max(range.row.start, time.ns));
}

bool SegmentDecoder::io(const Ring& ring, const RecordView& view, TimeNs time) {
  wire::IoDetail detail;
  TimeNs end;
  if (view.rest.size() < sizeof detail) return false;
  std::memcpy(&detail, view.rest.data(), sizeof detail);
  if (!scope_.keeps(pid_, time)) return true;
  return to_time(detail.end, end) && io_.add(view.record, detail, {time, end}, global_tid(ring));
}

void SegmentDecoder::write(OpenRange& range, std::optional<std::int64_t> end) {
  if (!range.kept) return;
  ++events_;
  trace::tables::NvtxEvents::Row& row = range.row;
  if (auto* op = std::get_if<trace::tables::DeviceOp::Row>(&range.meaning)) {
    op->start = row.start;
    op->end = end;
    op->global_tid = *row.global_tid;
    op->name_id = row.text_id.value_or(trace::StringId{0});
    sink_.add<trace::tables::DeviceOp>(*op);
    return;
  }
  if (auto* call = std::get_if<trace::tables::DeviceCall::Row>(&range.meaning)) {
    call->start = row.start;
    call->end = end;
    call->global_tid = *row.global_tid;
    call->name_id = row.text_id.value_or(trace::StringId{0});
    sink_.add<trace::tables::DeviceCall>(*call);
    return;
  }
  row.end = end;
  if (range.json.count > 0) row.json_text_id = sink_.intern(range.json.text());
  std::int64_t id = sink_.add<trace::tables::NvtxEvents>(row);
  // HEADWAY_RANGE must ascend by rangeRow, so its row is written at once.
  if (auto* info = std::get_if<trace::tables::RangeInfo::Row>(&range.meaning); info && id > 0) {
    info->range_row = id;
    sink_.add<trace::tables::RangeInfo>(*info);
  }
}

void SegmentDecoder::add_pending_io(const SegmentCounters& counters) {
  if (counters.pending_reads == 0 && counters.pending_writes == 0) return;
  const TimeNs now = axis_.from_monotonic(axis_.newest().monotonic_ns);
  if (scope_.keeps(pid_, now)) io_.add_pending(counters, now);
}

void SegmentDecoder::finish() {
  activity_.finish();
  for (auto& [index, ring] : rings_) end_thread(ring);
  for (auto& [id, range] : ranges_) write(range, std::nullopt);
  ranges_.clear();
  if (!early_ends_.empty()) {
    sink_.count_loss(trace::Loss::kNvtxPopWithoutPush,
                     static_cast<std::int64_t>(early_ends_.size()), global_pid(pid_));
    early_ends_.clear();
  }
}

}  // namespace headway::record
