// SPDX-License-Identifier: MIT
// Files each record by its kind: ranges, calls, device ops, flows, counters, metadata.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "trace/import/kineto/decimal.h"
#include "trace/import/kineto/part.h"

namespace headway::trace::kineto {
namespace {

constexpr std::int64_t kAbsent = conventions::kAbsent;

/// Product of "[x, y, z]", at most `most`; 0 for extents that no launch can have.
std::uint64_t product(std::string_view extents, std::uint64_t most) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < extents.size();) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(extents.data() + i, extents.data() + extents.size(), value);
    if (error != std::errc{}) {
      ++i;
      continue;
    }
    if (value == 0) return 0;
    result = result == 0 ? value : (result > most / value ? most : result * value);
    i = static_cast<std::size_t>(end - extents.data());
  }
  return std::min(result, most);
}

/// The id of a flow or async range, which is a number or any text (hashed).
std::uint64_t id_of(std::string_view token) {
  std::int64_t value = 0;
  if (parse_scaled(token, 0, value)) return static_cast<std::uint64_t>(value);
  return std::hash<std::string_view>{}(unquoted(token));
}

bool is_number(std::string_view text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) ||
                           (text.front() == '-' && text.size() > 1));
}

}  // namespace

std::uint32_t Filing::text(std::string_view token) {
  return part_.texts.add(unquoted(token));
}

const Filing::KnownCategory& Filing::category(std::string_view token) {
  std::string_view wanted = unquoted(token);
  for (const KnownCategory& known : categories_) {
    if (known.text == wanted) return known;
  }
  Category category = category_of(wanted);
  std::string_view domain = category.domain.empty() ? wanted : category.domain;
  // The list is searched linearly: a file with one category per event must not make it long.
  if (categories_.size() > 256) categories_.clear();
  return categories_.emplace_back(
      KnownCategory{std::string(wanted), category, part_.domains(part_.texts.add(domain))});
}

Name Filing::name_of(std::string_view token) {
  std::int64_t value = 0;
  std::string_view plain = unquoted(token);
  if (is_number(plain) && parse_scaled(plain, 0, value)) return {value, false};
  return {part_.texts.add(plain), true};
}

Track Filing::track_of(const Record& record) {
  return {name_of(record.pid), name_of(record.tid), false};
}

StreamName Filing::stream_of(const Record& record) {
  // The oldest traces have "stream 7".
  auto trailing_number = [](std::string_view token, std::int64_t fallback) {
    std::string_view plain = unquoted(token);
    while (!plain.empty() && plain.back() == ' ') plain.remove_suffix(1);
    std::size_t digits = plain.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(plain[digits - 1]))) --digits;
    return integer_or(plain.substr(digits), fallback);
  };
  return {integer_or(record.args.device, trailing_number(record.pid, 0)),
          integer_or(record.args.stream, trailing_number(record.tid, 0))};
}

bool Filing::seen(std::int64_t start, std::int64_t end) {
  if (end < start) {
    count(part_.losses, Loss::kNegativeDuration);
    return false;
  }
  part_.first_time = std::min(part_.first_time, start);
  part_.last_time = std::max(part_.last_time, end);
  part_.median_hint = start;
  return true;
}

bool Filing::add(const Record& record) {
  std::string_view phase = unquoted(record.phase);
  if (phase.empty()) return false;
  if (phase == "M") {
    add_metadata(record);
    return true;
  }
  std::int64_t start = 0;
  if (!parse_scaled(record.time, format_.scale, start)) return false;
  const KnownCategory& known = category(record.category);
  switch (phase.front()) {
    case 'X': {
      std::int64_t length = 0;
      bool has_length = parse_scaled(record.duration, format_.scale, length);
      if (!has_length && !record.duration.empty() && record.duration != "null") return false;
      if (!has_length) count(part_.losses, Loss::kMissingDuration);
      std::int64_t end = 0;
      if (__builtin_add_overflow(start, length, &end)) return false;
      add_complete(record, known, start, end, 0);
      return true;
    }
    case 's':
    case 't':
    case 'f':
      add_flow(record, known, start);
      return true;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      if (known.category.content == Content::kMemory && !record.args.allocated.empty()) {
        add_memory(record, start);
      } else {
        add_range(record, known, start, start, Ranges::kMark);
      }
      return true;
    case 'C':
      add_counters(record, start);
      return true;
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'S':
    case 'F':
      add_half(record, known, start);
      return true;
    default:
      count(part_.losses, Loss::kUnknownEvent);
      return true;
  }
}

void Filing::add_complete(const Record& record, const KnownCategory& known, std::int64_t start,
                          std::int64_t end, std::uint8_t flags) {
  switch (known.category.content) {
    case Content::kCall:
      return add_call(record, start, end);
    case Content::kKernel:
    case Content::kCopy:
    case Content::kMemset:
      return add_op(record, known.category.content, start, end);
    case Content::kSync:
      return add_sync(record);
    case Content::kOverhead:
      if (seen(start, end))
        part_.overheads.push_back({start, end, text(record.name), track(record)});
      return;
    default:
      return add_range(record, known, start, end, flags);
  }
}

RangeInfoId Filing::info_of(const Record& record, const KnownCategory& known) {
  RangeInfo info;
  bool says = false;
  if (!record.args.input_shapes.empty()) {
    info.shapes = {text(record.args.input_shapes)};
    info.dtypes = {text(record.args.input_types)};
    says = true;
  }
  if (!record.args.sequence.empty()) {
    info.sequence = integer_or(record.args.sequence, kAbsent);
    says = says || info.sequence != kAbsent;
  }
  if (known.category.domain == "user_annotation")
    says = describe_annotation(unquoted(record.name), info) || says;
  if (!says) return RangeInfoId::none();
  bool shareable = info.sequence == kAbsent && info.kind == RangeKind::kOther;
  std::uint64_t key =
      static_cast<std::uint64_t>(info.shapes.value) << 32 | std::uint64_t{info.dtypes.value};
  if (shareable) {
    auto [slot, is_new] = shared_infos_.try_emplace(key, RangeInfoId::from(part_.infos.size()));
    if (!is_new) return slot->second;
  }
  part_.infos.push_back(info);
  return RangeInfoId::from(part_.infos.size() - 1);
}

void Filing::add_range(const Record& record, const KnownCategory& known, std::int64_t start,
                       std::int64_t end, std::uint8_t flags) {
  if (!seen(start, end)) return;
  Track where = track_of(record);
  where.on_device = known.category.content == Content::kDeviceRange;
  Ranges& out = part_.ranges;
  RangeId carried = RangeId::none();
  if (!record.args.python_id.empty()) {
    carried = {Part::kPython | static_cast<std::uint32_t>(part_.python.size())};
    part_.python.push_back({integer_or(record.args.python_id, kAbsent),
                            integer_or(record.args.python_parent, kAbsent)});
  } else if (!record.args.collective.empty()) {
    carried = {add_collective(record.args)};
  }
  out.start.push_back({start});
  out.end.push_back({end});
  out.name.push_back({text(record.name)});
  out.thread.push_back({part_.tracks(where)});
  out.parent.push_back(carried);
  out.info.push_back(info_of(record, known));
  out.domain.push_back(DomainId::from(known.domain));
  out.flags.push_back(flags);
}

void Filing::add_call(const Record& record, std::int64_t start, std::int64_t end) {
  if (!seen(start, end)) return;
  Calls& out = part_.calls;
  out.start.push_back({start});
  out.end.push_back({end});
  out.name.push_back({text(record.name)});
  out.thread.push_back({track(record)});
  out.correlation.push_back(static_cast<std::uint32_t>(integer_or(record.args.correlation, 0)));
  out.bytes.push_back(std::max<std::int64_t>(0, integer_or(record.args.bytes, 0)));
}

void Filing::add_op(const Record& record, Content content, std::int64_t start, std::int64_t end) {
  if (!seen(start, end)) return;
  std::uint32_t name = text(record.name);
  DeviceOpKind kind = DeviceOpKind::kKernel;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  if (content == Content::kMemset) {
    kind = DeviceOpKind::kMemset;
    destination = MemoryKind::kDevice;
  } else if (content == Content::kCopy) {
    if (copy_kinds_.size() <= name) {
      copy_kinds_.resize(name + 1);
      copy_known_.resize(name + 1);
    }
    if (!copy_known_[name]) copy_kinds_[name] = copy_kind_of(unquoted(record.name));
    copy_known_[name] = 1;
    kind = copy_kinds_[name].kind;
    source = copy_kinds_[name].source;
    destination = copy_kinds_[name].destination;
  }
  DeviceOps& out = part_.ops;
  out.start.push_back({start});
  out.end.push_back({end});
  out.name.push_back({name});
  out.stream.push_back({part_.streams(stream_of(record))});
  out.call.push_back({static_cast<std::uint32_t>(integer_or(record.args.correlation, 0))});
  out.bytes.push_back(std::max<std::int64_t>(0, integer_or(record.args.bytes, 0)));
  std::int32_t carried = -1;
  if (content == Content::kKernel && !record.args.collective.empty()) {
    // The framework itself says that it is communication, which is more reliable than a name.
    kind = DeviceOpKind::kCommunication;
    carried = static_cast<std::int32_t>(add_collective(record.args));
  }
  out.op.push_back(carried);
  out.kind.push_back(kind);
  out.source_memory.push_back(source);
  out.destination_memory.push_back(destination);
  out.blocks.push_back(static_cast<std::uint32_t>(product(record.args.grid, UINT32_MAX)));
  out.block_threads.push_back(static_cast<std::uint16_t>(product(record.args.block, UINT16_MAX)));
}

void Filing::add_sync(const Record& record) {
  StreamName stream = stream_of(record);
  constexpr std::int64_t kUnset = UINT32_MAX;  // -1 of an unsigned
  if (stream.stream == kUnset) stream.stream = -1;
  std::int64_t recorded = integer_or(record.args.wait_record, 0);
  if (recorded < 0 || recorded == kUnset) recorded = 0;
  part_.syncs.push_back({static_cast<std::uint32_t>(integer_or(record.args.correlation, 0)),
                         static_cast<std::uint32_t>(recorded), stream});
}

void Filing::add_memory(const Record& record, std::int64_t time) {
  // c10::DeviceType: 0 is the host.
  bool host = integer_or(record.args.device_type, 1) == 0;
  if (!seen(time, time)) return;
  part_.memory.push_back({time, host ? -1 : integer_or(record.args.device_id, 0),
                          integer_or(record.args.allocated, kAbsent),
                          integer_or(record.args.reserved, kAbsent)});
}

void Filing::add_counters(const Record& record, std::int64_t time) {
  if (!seen(time, time)) return;
  for (const auto& [series, token] : record.series) {
    std::string number(unquoted(token));
    char* end = nullptr;
    double value = std::strtod(number.c_str(), &end);
    if (end == number.c_str() || !std::isfinite(value)) {
      count(part_.losses, Loss::kUnreadableValue);
      continue;
    }
    part_.counters.push_back(
        {time, name_of(record.pid), text(record.name), part_.texts.add(series), value});
  }
}

void Filing::add_flow(const Record& record, const KnownCategory& known, std::int64_t time) {
  if (record.phase == "\"t\"") return;  // an intermediate step of the flow: its two ends are enough
  FlowEnd flow{id_of(record.id), 0, time, record.phase == "\"s\""};
  if (known.category.content == Content::kAutogradFlow) {
    flow.track = track(record);
    part_.autograd_flows.push_back(flow);
  } else if (known.category.content == Content::kLaunchFlow && keep_launch_flows_) {
    flow.track = track(record);
    part_.launch_flows.push_back(flow);
  }
}

void Filing::add_half(const Record& record, const KnownCategory& known, std::int64_t time) {
  char phase = unquoted(record.phase).front();
  bool async = phase != 'B' && phase != 'E';
  bool begins = phase == 'B' || phase == 'b' || phase == 'S';
  if (!seen(time, time)) return;
  part_.halves.push_back({time, async ? id_of(record.id) : 0, track(record), text(record.name),
                          known.domain, begins, async});
}

void Filing::add_metadata(const Record& record) {
  std::string_view value = !record.args.name.empty() ? record.args.name : record.args.labels;
  if (value.empty()) return;
  part_.metadata.push_back({text(record.name), text(value), track_of(record)});
}

std::uint32_t Filing::add_collective(const Args& args) {
  CollectiveRow row;
  row.kind = text(args.collective);
  row.group = text(args.group_name);
  row.dtype = text(args.dtype);
  row.in_elements = integer_or(args.in_elements, kAbsent);
  row.out_elements = integer_or(args.out_elements, kAbsent);
  row.sequence = integer_or(args.collective_sequence, kAbsent);
  auto small = [](std::string_view token, std::int32_t fallback) {
    std::int64_t value = integer_or(token, fallback);
    return value < 0 || value > INT32_MAX ? fallback : static_cast<std::int32_t>(value);
  };
  row.ranks = small(args.group_size, 0);
  row.peer = small(args.peer_root, small(args.peer_source, small(args.peer_destination, -1)));
  part_.collectives.push_back(row);
  return static_cast<std::uint32_t>(part_.collectives.size() - 1);
}

}  // namespace headway::trace::kineto
