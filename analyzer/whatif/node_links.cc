// SPDX-License-Identifier: MIT
#include "analyzer/whatif/node_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analyzer/evidence/links.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Share of a link between devices that tests of the library reach, as in rule comm-slow-link; and
/// share of the bus if messages between devices pass through the host's memory (for a copy alone,
/// NCCL expects 12 of the 16 GB/s of PCIe 3).
constexpr double kReachable = 0.7;
constexpr double kReachableOfBus = 0.4;

/// The rate to which the trainer slows the links inside a node; 0: not set.
double emulated_bytes_per_ns(const trace::Trace& trace) {
  const std::string text(trace.setting("node_gb_per_s"));
  return std::max(0.0, std::strtod(text.c_str(), nullptr));
}

}  // namespace

NodeLinks node_links(const Predictor& predictor, std::string_view kind, int per_node,
                     const trace::Device& device) {
  const trace::Trace& trace = predictor.trace();
  const bool both_ways = kind == "allreduce";
  const double moved = (both_ways ? 2 : 1) * moved_share(per_node);
  const double emulated = emulated_bytes_per_ns(trace);
  const auto fact = emulated > 0 ? std::nullopt
                    : device.type != trace::DeviceType::kHost
                        ? predictor.machine().collective(device, "nccl", kind, per_node)
                        : predictor.machine().host_collective(trace, "shm", kind, per_node);
  if (fact) {
    const TransferLine line = line_of(fact->value, per_node);
    const double rate = line.per_byte > 0 ? moved / line.per_byte : 0;
    return {line, rate, fmt::format("{:.1f} GB/s, {}", 1 / line.per_byte, fact->source)};
  }
  const double fixed = kCollectiveStartNs + kHopInsideNs * hops_of(per_node, both_ways);
  if (emulated > 0)
    return {{fixed, moved / emulated},
            emulated,
            fmt::format("{:.3g} GB/s, emulated", emulated),
            kCollectiveStartNs};
  const Link* link = link_of(device.name);
  if (!link) return {};
  const double reachable = link->label.starts_with("PCIe") ? kReachableOfBus : kReachable;
  const double rate = reachable * link->bytes_per_s / 1e9;
  return {{fixed, moved / rate},
          rate,
          fmt::format("{:.0f} GB/s, {} of {}", rate, format_percent(reachable), link->label),
          kCollectiveStartNs};
}

}  // namespace headway::analyzer
