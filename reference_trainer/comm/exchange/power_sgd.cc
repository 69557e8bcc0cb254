// SPDX-License-Identifier: MIT
// PowerSGD (kernels/power_sgd/op.h): P = M·Q, summed over ranks, made orthogonal; Q = M'·P, summed.
// Vectors, and matrices for which it saves less than half, are sent uncompressed together with Q.
// The approximation error is added to the next gradient.
#include "reference_trainer/comm/bucket.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer::exchange {
namespace {

struct Plan {
  std::vector<kernels::PowerMatrix> matrices;
  std::vector<kernels::PowerRest> rest;
  std::int64_t p_count = 0;
  std::int64_t second_count = 0;  ///< all Q, then the rest
};

Plan plan(const Bucket& bucket) {
  const int rank = bucket.options().rank;
  Plan result;
  std::int64_t offset = 0;
  for (const GradientTensor& tensor : bucket.tensors()) {
    const std::int64_t columns = tensor.rows > 0 ? tensor.count / tensor.rows : 0;
    const bool matrix = tensor.rows > 1 && columns > 1 && tensor.rows * columns == tensor.count &&
                        2 * rank * (tensor.rows + columns) < tensor.count;
    if (matrix) {
      result.matrices.push_back(
          {offset, tensor.rows, columns, result.p_count, result.second_count});
      result.p_count += tensor.rows * rank;
      result.second_count += columns * rank;
    } else {
      result.rest.push_back({offset, tensor.count, 0});
    }
    offset += tensor.count;
  }
  for (kernels::PowerRest& rest : result.rest) {
    rest.at = result.second_count;
    result.second_count += rest.count;
  }
  return result;
}

}  // namespace

void add_power_sgd(Bucket& bucket) {
  Plan planned = plan(bucket);
  const std::int64_t count = bucket.count();
  const std::int64_t second_count = planned.second_count;
  const std::int64_t p_count = planned.p_count;
  kernels::PowerLayout layout;
  layout.rank = bucket.options().rank;
  layout.count = count;
  layout.matrices = bucket.keep(std::move(planned.matrices));
  layout.rest = bucket.keep(std::move(planned.rest));
  layout.flat = bucket.flat();
  layout.error = bucket.buffer<float>(count);
  layout.p = bucket.buffer<float>(p_count);
  layout.second = bucket.buffer<float>(second_count);
  layout.second_count = second_count;
  std::vector<float> start(static_cast<std::size_t>(second_count));
  Random random(bucket.options().seed, 0x9057, 0);  // the same on all ranks
  for (float& value : start) value = static_cast<float>(random.normal());
  bucket.upload(layout.second, start);

  bucket.add_pack();
  if (p_count > 0) {
    bucket.add_kernel("compress/power_p", kernels::PowerFirst{layout});
    bucket.add_collective(CollectiveKind::kAllReduce, Scope::kWorld, ElementType::kFloat, layout.p,
                          p_count);
  }
  bucket.add_kernel("compress/power_q", kernels::PowerSecond{layout});
  bucket.add_collective(CollectiveKind::kAllReduce, Scope::kWorld, ElementType::kFloat,
                        layout.second, second_count);
  bucket.add_kernel("decompress/power",
                    kernels::PowerRestore{layout, 1 / bucket.options().average_over});
  bucket.add_unpack(1);
}

}  // namespace headway::trainer::exchange
