// SPDX-License-Identifier: MIT
#include "kernels/sgd_momentum/op.h"

#include <doctest/doctest.h>

#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::largest_difference;
using test::random_floats;

constexpr SgdParameters kParameters{0.1F, 0.9F, 5e-4F};

struct Tensor {
  std::vector<float> p, v, g;
  explicit Tensor(std::int64_t count, std::uint32_t seed)
      : p(random_floats(count, seed)),
        v(random_floats(count, seed + 1)),
        g(random_floats(count, seed + 2)) {}
  SgdTensor view() { return {p.data(), v.data(), g.data(), static_cast<std::int64_t>(p.size())}; }
};

}  // namespace

TEST_CASE("one pass of sgd with momentum equals its reference") {
  for (std::int64_t count : {1, 8, 33, 40001}) {
    Tensor fast(count, 1);
    Tensor plain(count, 1);
    sgd_momentum(fast.view(), kParameters);
    reference::sgd_momentum(plain.view(), kParameters);
    CHECK(largest_difference(fast.p, plain.p) < 1e-6);
    CHECK(largest_difference(fast.v, plain.v) < 1e-6);
  }
}

TEST_CASE("multi-tensor sgd equals one call per tensor, on one thread and on two") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    std::vector<Tensor> many;
    std::vector<Tensor> each;
    for (std::int64_t count : {5, 1, 30000, 16, 20000, 0, 7}) {
      many.emplace_back(count, static_cast<std::uint32_t>(count));
      each.emplace_back(count, static_cast<std::uint32_t>(count));
    }
    std::vector<SgdTensor> views;
    for (Tensor& tensor : many) views.push_back(tensor.view());
    sgd_momentum_multi_tensor(views, kParameters);
    for (Tensor& tensor : each) sgd_momentum(tensor.view(), kParameters);
    for (std::size_t i = 0; i < many.size(); ++i) {
      CHECK(largest_difference(many[i].p, each[i].p) < 1e-6);
      CHECK(largest_difference(many[i].v, each[i].v) < 1e-6);
    }
  }
}

TEST_CASE("four elementwise passes give what one fused pass gives") {
  Tensor parts(1237, 3);
  Tensor fused(1237, 3);
  std::vector<float> direction(parts.p.size());
  const std::int64_t n = 1237;
  sgd_decay(n, parts.g.data(), parts.p.data(), kParameters.decay, direction.data());
  sgd_scale(n, kParameters.momentum, parts.v.data());
  sgd_accumulate(n, direction.data(), parts.v.data());
  sgd_apply(n, parts.v.data(), kParameters.rate, parts.p.data());
  sgd_momentum(fused.view(), kParameters);
  CHECK(largest_difference(parts.p, fused.p) < 1e-6);
  CHECK(largest_difference(parts.v, fused.v) < 1e-6);
}

TEST_CASE("four passes move more than twice the bytes of one") {
  const std::int64_t n = 1000;
  const Work parts =
      sgd_decay_work(n) + sgd_scale_work(n) + sgd_accumulate_work(n) + sgd_apply_work(n);
  CHECK(parts.bytes == 44 * n);
  CHECK(sgd_momentum_work(n).bytes == 20 * n);
}

}  // namespace headway::kernels
