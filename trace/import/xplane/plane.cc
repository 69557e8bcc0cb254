// SPDX-License-Identifier: MIT
// Field numbers are those of XSpace, XPlane, XLine, XEvent and XStat.
#include "trace/import/xplane/plane.h"

#include <algorithm>

namespace headway::trace::xplane {
namespace {

Stat stat_of(std::string_view name) {
  struct Entry {
    std::string_view name;
    Stat stat;
  };
  static constexpr auto kStats = std::to_array<Entry>({
      {"_c", Stat::kConsumerId},
      {"_ct", Stat::kConsumerType},
      {"_p", Stat::kProducerId},
      {"_pt", Stat::kProducerType},
      {"allocator_name", Stat::kAllocator},
      {"bytes_accessed", Stat::kBytesAccessed},
      {"bytes_allocated", Stat::kBytesAllocated},
      {"bytes_reserved", Stat::kBytesReserved},
      {"clock_rate", Stat::kClockRate},
      {"compute_cap_major", Stat::kCapabilityMajor},
      {"compute_cap_minor", Stat::kCapabilityMinor},
      {"core_count", Stat::kCoreCount},
      {"correlation_id", Stat::kCorrelation},
      {"device_ordinal", Stat::kDeviceOrdinal},
      {"device_type_string", Stat::kDeviceType},
      {"device_vendor", Stat::kVendor},
      {"element_id", Stat::kElementId},
      {"flops", Stat::kFlops},
      {"hlo_category", Stat::kHloCategory},
      {"hlo_module", Stat::kHloModule},
      {"hlo_op", Stat::kHloOp},
      {"kernel_details", Stat::kKernelDetails},
      {"memcpy_details", Stat::kMemcpyDetails},
      {"memory_bandwidth", Stat::kMemoryBandwidth},
      {"memory_size", Stat::kMemorySize},
      {"memset_details", Stat::kMemsetDetails},
      {"name", Stat::kName},
      {"process_id", Stat::kProcessId},
      {"profile_start_time", Stat::kProfileStart},
      {"run_id", Stat::kRunId},
      {"step_num", Stat::kStepNumber},
      {"tf_op", Stat::kTfOp},
  });
  auto found =
      std::lower_bound(kStats.begin(), kStats.end(), name,
                       [](const Entry& entry, std::string_view n) { return entry.name < n; });
  return found != kStats.end() && found->name == name ? found->stat : Stat::kOther;
}

/// Key and value of a map's entry.
std::pair<std::int64_t, std::string_view> entry_of(std::string_view message,
                                                   std::string_view file) {
  std::pair<std::int64_t, std::string_view> entry{0, {message.data(), 0}};
  Message fields(message, file);
  for (Field field; fields.next(field);) {
    if (field.is(1, WireType::kVarint)) entry.first = field.number_value();
    if (field.is(2, WireType::kBytes)) entry.second = field.bytes;
  }
  return entry;
}

/// More real events than fit into protobuf's 2 GiB; this limit stops a hostile file of empty
/// events.
constexpr std::int64_t kMostRows = 60'000'000;

void spend(std::int64_t& budget, const Message& where) {
  if (--budget < 0) throw WireFault{where.offset(), "holds more than 60 million rows"};
}

std::int64_t whole(double value) {
  return value > -9e15 && value < 9e15 ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace

Plane::Plane(std::string_view message, std::string_view file, std::int64_t& budget) : file_(file) {
  std::vector<std::string_view> own;
  Message fields(message, file);
  for (Field field; fields.next(field);) {
    if (field.type != WireType::kBytes) continue;
    spend(budget, fields);
    switch (field.number) {
      case 2:
        name = field.bytes;
        break;
      case 3:
        read_line(field.bytes, budget);
        break;
      case 4:
        read_kind(field.bytes);
        break;
      case 5:
        read_stat_name(field.bytes);
        break;
      case 6:
        own.push_back(field.bytes);
        break;
      default:
        break;
    }
  }
  read_stats(own, stats);
}

void Plane::read_line(std::string_view message, std::int64_t& budget) {
  Line line;
  Message fields(message, file_);
  for (Field field; fields.next(field);) {
    if (field.is(1, WireType::kVarint)) line.id = field.number_value();
    if (field.is(2, WireType::kBytes)) line.name = field.bytes;
    if (field.is(3, WireType::kVarint)) line.timestamp_ns = field.number_value();
    if (field.is(4, WireType::kBytes)) {
      spend(budget, fields);
      line.events.push_back(field.bytes);
    }
    if (field.is(11, WireType::kBytes)) line.display_name = field.bytes;
  }
  lines.push_back(std::move(line));
}

void Plane::read_kind(std::string_view entry) {
  auto [id, message] = entry_of(entry, file_);
  EventKind kind;
  Message fields(message, file_);
  for (Field field; fields.next(field);) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 2) kind.name = field.bytes;
    if (field.number == 4) kind.display_name = field.bytes;
    if (field.number == 5) kind.stats.push_back(field.bytes);
  }
  kinds_[id] = std::move(kind);
}

void Plane::read_stat_name(std::string_view entry) {
  auto [id, message] = entry_of(entry, file_);
  std::string_view text;
  Message fields(message, file_);
  for (Field field; fields.next(field);) {
    if (field.is(2, WireType::kBytes)) text = field.bytes;
  }
  stat_names_[id] = {text, stat_of(text)};
}

void Plane::read(std::string_view message, Event& event) const {
  event.kind = event.offset_ps = event.duration_ps = 0;
  event.aggregated = false;
  event.stats.clear();
  Message fields(message, file_);
  for (Field field; fields.next(field);) {
    if (field.type == WireType::kBytes) {
      if (field.number == 4) event.stats.push_back(field.bytes);
    } else if (field.type == WireType::kVarint) {
      if (field.number == 1) event.kind = field.number_value();
      if (field.number == 2) event.offset_ps = field.number_value();
      if (field.number == 3) event.duration_ps = field.number_value();
      if (field.number == 5) event.aggregated = true;
    }
  }
}

void Plane::read(const EventKind& kind, const Event& event, Stats& out) const {
  out.clear();
  read_stats(kind.stats, out);
  read_stats(event.stats, out);
}

void Plane::read_stats(const std::vector<std::string_view>& messages, Stats& out) const {
  for (std::string_view message : messages) {
    Stat stat = Stat::kOther;
    std::int64_t number = 0;
    std::string_view text;
    Message fields(message, file_);
    for (Field field; fields.next(field);) {
      switch (field.number) {
        case 1:
          if (auto found = stat_names_.find(field.number_value()); found != stat_names_.end())
            stat = found->second.stat;
          break;
        case 2:
          if (field.type == WireType::kFixed64) number = whole(field.real_value());
          break;
        case 3:
        case 4:
          number = field.number_value();
          break;
        case 5:
        case 6:
          text = field.bytes;
          break;
        case 7:
          if (auto found = stat_names_.find(field.number_value()); found != stat_names_.end())
            text = found->second.name;
          break;
        default:
          break;
      }
    }
    if (stat != Stat::kOther) out.set(stat, number, text);
  }
}

Space read_space(std::string_view file) {
  Space space;
  std::int64_t budget = kMostRows;
  Message fields(file, file);
  for (Field field; fields.next(field);) {
    if (field.type != WireType::kBytes) continue;
    spend(budget, fields);
    if (field.number == 1) space.planes.emplace_back(field.bytes, file, budget);
    if (field.number == 2 || field.number == 3) space.complaints.push_back(field.bytes);
    if (field.number == 4) space.hosts.push_back(field.bytes);
  }
  return space;
}

}  // namespace headway::trace::xplane
