// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway::trainer {

double LinkModel::rank_bytes_per_s(Scope scope, int ranks) const {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  const double node = node_bytes_per_s > 0 ? node_bytes_per_s : kUnlimited;
  if (scope == Scope::kNode || ranks <= 1 || (scope == Scope::kWorld && ranks <= ranks_per_node))
    return node;
  if (network_bytes_per_s <= 0) return node;
  const double connection = network_bytes_per_s * connection_share;
  if (scope == Scope::kWorld) return std::min(node, connection);
  // A rank has one connection: if it is alone on its node, it gets no more than one connection
  // reaches.
  return std::min({node, network_bytes_per_s / ranks_per_node, connection});
}

double LinkModel::latency_s(Scope scope, int ranks, double hops) const {
  const bool leaves_node =
      scope == Scope::kAcross || (scope == Scope::kWorld && ranks > ranks_per_node);
  if (!leaves_node) return hops * node_latency_s;
  if (scope == Scope::kAcross) return hops * network_latency_s;
  const double nodes = std::ceil(static_cast<double>(ranks) / ranks_per_node);
  const double outside = nodes / ranks;  // of the ring's links
  return hops * (outside * network_latency_s + (1 - outside) * node_latency_s);
}

double LinkModel::all_to_all_s(int ranks, double bytes) const {
  const int near = std::min(ranks, ranks_per_node);
  const double piece = bytes / ranks;
  auto seconds = [&](double moved, double rate) {
    constexpr double kOfFlags = 0.5;  // as in collective_ns
    if (half_rate_bytes > 0) rate *= std::max(kOfFlags, piece / (piece + half_rate_bytes));
    return std::isinf(rate) || moved == 0 ? 0 : moved / rate;
  };
  const double inside = seconds(piece * (near - 1), rank_bytes_per_s(Scope::kNode, near));
  const double outside = seconds(piece * (ranks - near), rank_bytes_per_s(Scope::kAcross, ranks));
  return std::max(inside, outside);
}

std::int64_t LinkModel::collective_ns(CollectiveKind kind, Scope scope, int ranks,
                                      std::int64_t bytes) const {
  if (ranks <= 1) return 0;
  const bool leaves_node =
      scope == Scope::kAcross || (scope == Scope::kWorld && ranks > ranks_per_node);
  if (kind == CollectiveKind::kAllToAll)
    return static_cast<std::int64_t>(
        std::llround((start_s + latency_s(leaves_node ? Scope::kAcross : Scope::kNode, ranks, 1) +
                      all_to_all_s(ranks, static_cast<double>(bytes))) *
                     1e9));
  const double share = static_cast<double>(ranks - 1) / ranks;
  const double message = static_cast<double>(bytes);
  double hops = ranks - 1;
  double moved = message * share;
  if (kind == CollectiveKind::kAllReduce) {
    // A ring for large messages, a double tree for small ones: libraries take the faster one.
    hops = std::min<double>(2.0 * (ranks - 1), 2.0 * std::ceil(std::log2(ranks)) * 2);
    moved *= 2;
  } else if (is_message(kind)) {
    hops = 1;
    moved = message;
  } else if (kind == CollectiveKind::kParameterServer) {
    hops = 2;
    moved = 2 * message * (ranks - 1);
  }
  double rate = rank_bytes_per_s(scope, ranks);
  // When the server's transfers leave the node, the server has its node's network to itself.
  if (kind == CollectiveKind::kParameterServer && leaves_node && network_bytes_per_s > 0)
    rate = network_bytes_per_s;
  if (kind == CollectiveKind::kParameterServer) {
    rate /= 1 + server_congestion * (ranks - 1);
  } else {
    // NCCL's protocol for small messages (LL) sends a flag with each word, which gives half the
    // rate at any size.
    constexpr double kOfFlags = 0.5;
    const double piece = is_message(kind) ? message : message / ranks;
    if (half_rate_bytes > 0) rate *= std::max(kOfFlags, piece / (piece + half_rate_bytes));
  }
  const double transfer = std::isinf(rate) || moved == 0 ? 0 : moved / rate;
  // The server hears from every rank, so both of its hops are between nodes if there are several.
  const Scope on_links =
      kind == CollectiveKind::kParameterServer && leaves_node ? Scope::kAcross : scope;
  return static_cast<std::int64_t>(
      std::llround((start_s + latency_s(on_links, ranks, hops) + transfer) * 1e9));
}

}  // namespace headway::trainer
