// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::trainer {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kParameterServer,
  kAllToAll,  ///< every rank has a part for every other rank
  kSend,      ///< one side of a message between two ranks
  kReceive,   ///< the other side
};
constexpr bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}
/// Which ranks take part: all, those of one node, or those with the same place on their nodes.
enum class Scope : std::uint8_t { kWorld, kNode, kAcross };

/// Latency and bandwidth of the links between ranks. A simulated run takes its times from them; a
/// real run is throttled to them. A node is `ranks_per_node` consecutive ranks.
///
///   ring of n ranks      (n - 1) hops of latency, and bytes · (n - 1)/n over the slowest link for a
///                        reduce-scatter or an all-gather, twice that for an allreduce
///   all-to-all           one hop: each rank sends the parts of its node's ranks over its own link while those of other
///                        nodes go over the network, which the ranks of a node share
///   parameter server     rank 0 receives and sends bytes · (n - 1): twice, over its one link
///
/// A flat ring passes through one node after the other, as NCCL lays it. It crosses each node's
/// network once in each direction and does not share it. A collective across nodes (Scope::kAcross)
/// is one of `ranks_per_node` that share the network, each with 1/ranks_per_node of the bytes.
struct LinkModel {
  int ranks_per_node = 8;
  double node_bytes_per_s = 0;     ///< from a rank to the others of its node; 0: no limit
  double network_bytes_per_s = 0;  ///< of a node; 0: no limit
  double node_latency_s = 0;       ///< per hop
  double network_latency_s = 0;
  double start_s = 0;  ///< of every collective

  double connection_share = 1;  ///< of the network's rate that one rank's connection reaches
  double half_rate_bytes =
      0;  ///< a hop's message of this size reaches half the rate, and no message reaches less
  double server_congestion = 0;  ///< parameter server: each sender slows the others by this

  /// Of a message between two ranks: kNode on one node, else kAcross.
  Scope scope_between(int rank, int peer) const {
    return rank / ranks_per_node == peer / ranks_per_node ? Scope::kNode : Scope::kAcross;
  }
  /// The bytes per second that one rank gets in a collective of this scope among `ranks`.
  double rank_bytes_per_s(Scope scope, int ranks) const;
  /// Seconds of latency of a collective whose members pass data on `hops` times.
  double latency_s(Scope scope, int ranks, double hops) const;
  /// Nanoseconds from the arrival of the last rank to the end; 0 without any limit. `bytes` is the
  /// full message: for kAllGather and kReduceScatter that of all members together, for kAllToAll
  /// what one rank sends or gets.
  std::int64_t collective_ns(CollectiveKind kind, Scope scope, int ranks, std::int64_t bytes) const;

 private:
  double all_to_all_s(int ranks, double bytes) const;
};

}  // namespace headway::trainer
