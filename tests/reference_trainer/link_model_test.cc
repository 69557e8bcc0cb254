// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/link_model.h"

#include <doctest/doctest.h>

namespace headway::trainer {

TEST_CASE("no links have no limits, and one rank exchanges nothing") {
  const LinkModel none;
  CHECK(none.collective_ns(CollectiveKind::kAllReduce, Scope::kWorld, 8, 1'000'000) == 0);
  LinkModel slow;
  slow.node_bytes_per_s = 1;
  CHECK(slow.collective_ns(CollectiveKind::kAllReduce, Scope::kWorld, 1, 1'000'000) == 0);
}

TEST_CASE("an allreduce moves its message twice, less one rank's share") {
  LinkModel links;
  links.node_bytes_per_s = 1e9;
  CHECK(links.collective_ns(CollectiveKind::kAllReduce, Scope::kWorld, 4, 1'000'000) == 1'500'000);
  CHECK(links.collective_ns(CollectiveKind::kAllGather, Scope::kWorld, 4, 1'000'000) == 750'000);
  links.node_latency_s = 1e-6;
  CHECK(links.collective_ns(CollectiveKind::kAllReduce, Scope::kWorld, 4, 1'000'000) == 1'506'000);
}

TEST_CASE("the slower of node links and shared network limits an all-to-all") {
  LinkModel links;
  links.ranks_per_node = 4;
  links.node_bytes_per_s = 1e9;
  links.network_bytes_per_s = 2e9;
  const auto ns = [&](int ranks) {
    return links.collective_ns(CollectiveKind::kAllToAll, Scope::kWorld, ranks, 1'000'000);
  };
  CHECK(ns(4) == 750'000);    // three quarters leave the rank
  CHECK(ns(8) == 1'000'000);  // half of it leaves the node, which four ranks share
  links.network_bytes_per_s = 100e9;
  CHECK(ns(8) == 500'000);  // a rank's own link caps its share of the network
}

TEST_CASE("a ring crosses each node's network once, so hierarchical sums gain as expected") {
  LinkModel links;
  links.ranks_per_node = 8;
  links.node_bytes_per_s = 100e9;
  links.network_bytes_per_s = 10e9;
  const std::int64_t bytes = 100'000'000;
  const auto ns = [&](CollectiveKind kind, Scope scope, int ranks, std::int64_t size) {
    return links.collective_ns(kind, scope, ranks, size);
  };
  const std::int64_t flat = ns(CollectiveKind::kAllReduce, Scope::kWorld, 32, bytes);
  const std::int64_t layered = ns(CollectiveKind::kReduceScatter, Scope::kNode, 8, bytes) +
                               ns(CollectiveKind::kAllReduce, Scope::kAcross, 4, bytes / 8) +
                               ns(CollectiveKind::kAllGather, Scope::kNode, 8, bytes);
  // 31/32 of the bytes cross the network against 3/4 of them, and 2 x 7/8 of them the links inside.
  CHECK(static_cast<double>(flat) / static_cast<double>(layered) ==
        doctest::Approx((31.0 / 32 / 10) / (3.0 / 4 / 10 + 7.0 / 8 / 100)).epsilon(0.01));
  // Several connections fill a network; one does not.
  links.connection_share = 0.75;
  CHECK(ns(CollectiveKind::kAllReduce, Scope::kWorld, 32, bytes) ==
        doctest::Approx(static_cast<double>(flat) / 0.75).epsilon(0.01));
  CHECK(ns(CollectiveKind::kAllReduce, Scope::kAcross, 4, bytes / 8) <
        ns(CollectiveKind::kAllReduce, Scope::kWorld, 32, bytes));
  CHECK(ns(CollectiveKind::kParameterServer, Scope::kWorld, 32, bytes) > flat);
}

}  // namespace headway::trainer
