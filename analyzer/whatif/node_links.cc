// SPDX-License-Identifier: MIT
#include "analyzer/whatif/node_links.h"

#include <fmt/format.h>

#include <optional>

#include "analyzer/evidence/links.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// What tests of the library reach of a link, as in rule comm-slow-link.
constexpr double kReachable = 0.7;
/// Of a ring over NVLink with the protocol of large messages: to start, and a hop. NCCL's own model of itself
/// (src/include/tuning.h: baseLat, hwLat).
constexpr double kStartNs = 8'400;
constexpr double kHopNs = 3'400;

}  // namespace

NodeLinks node_links(const Predictor& predictor, int per_node, const trace::Device& device) {
  const trace::Trace& trace = predictor.trace();
  constexpr std::string_view kKind = "reducescatter";
  const std::string_view link_rate = trace.setting("node_gb_per_s");
  const bool emulated = !link_rate.empty() && link_rate != "0";
  const auto fact = device.type != trace::DeviceType::kHost
                        ? predictor.machine().collective(device, "nccl", kKind, per_node)
                    : emulated ? std::nullopt
                               : predictor.machine().host_collective(trace, "shm", kKind, per_node);
  if (fact) {
    const TransferLine line = line_of(fact->value, per_node);
    return {line, fmt::format("{:.1f} GB/s, {}", 1 / line.per_byte, fact->source)};
  }
  const Link* link = link_of(device.name);
  if (!link) return {};
  const double bytes_per_ns = kReachable * link->bytes_per_s / 1e9;
  return {
      {kStartNs + kHopNs * (per_node - 1), moved_share(per_node) / bytes_per_ns},
      fmt::format("{:.0f} GB/s, {} of {}", bytes_per_ns, format_percent(kReachable), link->label)};
}

}  // namespace headway::analyzer
