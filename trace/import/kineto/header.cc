// SPDX-License-Identifier: MIT
// The values beside the events: devices, the distributed run, the clock's base, the profiler's own
// settings.
#include <simdjson.h>

#include <algorithm>

#include "trace/import/kineto/decimal.h"
#include "trace/import/kineto/merge.h"
#include "trace/meta_keys.h"

namespace headway::trace::kineto {
namespace {

namespace dom = simdjson::dom;

/// Parses one of these small values. False when it is absent, damaged or of another type.
template <class Value>
bool parse(dom::parser& parser, const Header& header, const std::string& key, Value& value) {
  auto found = header.values.find(key);
  if (found == header.values.end()) return false;
  return parser.parse(found->second).get(value) == simdjson::SUCCESS;
}

std::int64_t number(dom::object object, std::string_view key, std::int64_t fallback) {
  std::int64_t value = 0;
  if (!object[key].get_int64().get(value)) return value;
  double real = 0;
  if (!object[key].get_double().get(real) && real > -9e15 && real < 9e15)
    return static_cast<std::int64_t>(real);
  std::string_view text;
  if (!object[key].get_string().get(text)) return integer_or(text, fallback);
  return fallback;
}

std::string text(dom::object object, std::string_view key) {
  std::string_view value;
  if (object[key].get_string().get(value)) return "";
  return std::string(value);
}

std::int32_t small(std::int64_t value) {
  return value > 0 && value < INT32_MAX ? static_cast<std::int32_t>(value) : 0;
}

void apply_devices(Merged& merged, dom::array devices, bool amd) {
  Trace& trace = merged.assembly.trace;
  for (dom::element element : devices) {
    dom::object object;
    if (element.get_object().get(object)) continue;
    std::int64_t ordinal = number(object, "id", -1);
    if (ordinal < 0) continue;
    // The list has all GPUs of the machine; a GPU gets its process from the work on it.
    DeviceId id = merged.assembly.device(DeviceType::kCuda, ProcessId::none(), ordinal);
    Device& device = trace.devices[id.value];
    device.name = text(object, "name");
    device.cores = small(number(object, "numSms", 0));
    device.memory_bytes = std::max<std::int64_t>(0, number(object, "totalGlobalMem", 0));
    // AMD's architecture numbers (gfx942 is "9.4") have another meaning than CUDA's compute
    // capability.
    if (amd || device.name.starts_with("AMD")) continue;
    device.compute_major = small(number(object, "computeMajor", 0));
    device.compute_minor = small(number(object, "computeMinor", 0));
  }
}

void apply_groups(Trace& trace, dom::array groups) {
  for (dom::element element : groups) {
    dom::object group;
    dom::array ranks;
    if (element.get_object().get(group) || group["ranks"].get_array().get(ranks)) continue;
    std::string members;
    for (dom::element rank : ranks) {
      std::int64_t value = 0;
      if (!rank.get_int64().get(value))
        members += (members.empty() ? "" : ",") + std::to_string(value);
    }
    trace.meta[std::string(meta::kProcessGroupPrefix) + text(group, "pg_name")] = members;
  }
}

void apply_distributed(Merged& merged, dom::object info) {
  Trace& trace = merged.assembly.trace;
  std::int64_t rank = number(info, "rank", -1);
  std::int64_t world_size = number(info, "world_size", 0);
  if (rank >= 0 && rank < INT32_MAX) {
    trace.meta[std::string(meta::kDistributedRank)] = std::to_string(rank);
    for (Process& process : trace.processes) process.rank = static_cast<std::int32_t>(rank);
  }
  if (world_size > 0) {
    trace.world_size = small(world_size);
    trace.meta[std::string(meta::kDistributedWorldSize)] = std::to_string(world_size);
  }
  if (std::string backend = text(info, "backend"); !backend.empty())
    trace.meta[std::string(meta::kDistributedBackend)] = backend;
  dom::array groups;
  if (!info["pg_config"].get_array().get(groups)) apply_groups(trace, groups);
}

}  // namespace

void apply_header(Merged& merged, const Header& header) {
  Trace& trace = merged.assembly.trace;
  trace.meta[std::string(meta::kProducer)] = "PyTorch profiler (Kineto)";
  std::int64_t base = 0;
  for (const auto& [key, value] : header.values) {
    if (key == "baseTimeNanoseconds") base = integer_or(value, 0);
    if (!value.empty() && value.front() != '{' && value.front() != '[' && value.size() <= 256)
      trace.meta[std::string(meta::kKinetoPrefix) + key] = unquoted(value);
  }
  // Older versions write no base: their times are those of the wall clock.
  constexpr std::int64_t kSeptember2001 = 1'000'000'000'000'000'000;
  std::int64_t start = 0;
  if (!__builtin_add_overflow(base, merged.zero, &start) && start > kSeptember2001)
    trace.start_utc_ns = start;
  bool amd =
      header.values.contains("hip_runtime_version") || header.values.contains("roctracer_version");
  dom::parser parser;
  dom::array devices;
  if (parse(parser, header, "deviceProperties", devices)) apply_devices(merged, devices, amd);
  dom::object distributed;
  if (parse(parser, header, "distributedInfo", distributed)) apply_distributed(merged, distributed);
}

}  // namespace headway::trace::kineto
