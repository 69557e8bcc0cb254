// SPDX-License-Identifier: MIT
// Sums in full precision, in one of three ways: one allreduce over all ranks; reduce-scatter inside
// the node, allreduce across nodes, all-gather inside the node; or through one server, which does
// not scale.
#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {

void add_plain(Bucket& bucket) {
  bucket.add_pack();
  bucket.add_sum(ElementType::kFloat, bucket.flat());
  bucket.add_unpack(1 / bucket.options().average_over);
}

void add_parameter_server(Bucket& bucket) {
  bucket.add_pack();
  bucket.add_collective(CollectiveKind::kParameterServer, Scope::kWorld, ElementType::kFloat,
                        bucket.flat(), bucket.count());
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
