// SPDX-License-Identifier: MIT
// Sums in full precision: one allreduce over all ranks; reduce-scatter inside the node, allreduce
// across nodes, all-gather inside the node; or through one server, the way that does not scale.
#include <algorithm>

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {
namespace {

std::span<float> all_of(const Bucket& bucket) {
  return {bucket.flat(), static_cast<std::size_t>(bucket.count())};
}

}  // namespace

void add_plain(Bucket& bucket) {
  bucket.add_pack();
  bucket.add_collective(
      CollectiveKind::kAllReduce, Scope::kWorld, bucket.bytes(), "f32",
      [&bucket](CommBackend& backend) { backend.all_reduce(Scope::kWorld, all_of(bucket)); });
  bucket.add_unpack(1 / bucket.options().average_over);
}

void add_hierarchical(Bucket& bucket) {
  const int places = std::min(bucket.ranks_per_node(), bucket.size());
  const int place = bucket.rank() % places;
  const Part part = part_of(static_cast<std::size_t>(bucket.count()), place, places);
  bucket.add_pack();
  bucket.add_collective(
      CollectiveKind::kReduceScatter, Scope::kNode, bucket.bytes(), "f32",
      [&bucket](CommBackend& backend) { backend.reduce_scatter(Scope::kNode, all_of(bucket)); });
  bucket.add_collective(CollectiveKind::kAllReduce, Scope::kAcross,
                        static_cast<std::int64_t>((part.end - part.begin) * sizeof(float)), "f32",
                        [&bucket, part](CommBackend& backend) {
                          backend.all_reduce(
                              Scope::kAcross,
                              all_of(bucket).subspan(part.begin, part.end - part.begin));
                        });
  bucket.add_collective(
      CollectiveKind::kAllGather, Scope::kNode, bucket.bytes(), "f32",
      [&bucket](CommBackend& backend) { backend.all_gather_parts(Scope::kNode, all_of(bucket)); });
  bucket.add_unpack(1 / bucket.options().average_over);
}

void add_parameter_server(Bucket& bucket) {
  bucket.add_pack();
  bucket.add_collective(
      CollectiveKind::kParameterServer, Scope::kWorld, bucket.bytes(), "f32",
      [&bucket](CommBackend& backend) { backend.reduce_through_server(all_of(bucket)); });
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
