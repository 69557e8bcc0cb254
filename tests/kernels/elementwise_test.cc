// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "kernels/add/op.h"
#include "kernels/parallel.h"
#include "kernels/relu/op.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {

using test::random_floats;

TEST_CASE("relu and its gradient are exact at every size, on one thread and on two") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (std::int64_t count : {0, 1, 7, 31, 4097, 70001}) {
      std::vector<float> x = random_floats(count, 1);
      std::vector<float> dy = random_floats(count, 2);
      if (count > 2) x[2] = 0;
      std::vector<float> y(x.size());
      std::vector<float> dx(x.size());
      relu_forward(count, x.data(), y.data());
      relu_backward(count, y.data(), dy.data(), dx.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        REQUIRE(y[i] == (x[i] > 0 ? x[i] : 0));
        REQUIRE(dx[i] == (x[i] > 0 ? dy[i] : 0));
      }
    }
  }
}

TEST_CASE("add is exact at every size, on one thread and on two") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (std::int64_t count : {0, 1, 9, 4095, 70001}) {
      std::vector<float> a = random_floats(count, 1);
      std::vector<float> b = random_floats(count, 2);
      std::vector<float> c(a.size());
      add(count, a.data(), b.data(), c.data());
      for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(c[i] == a[i] + b[i]);
    }
  }
}

TEST_CASE("parallel pieces cover a range exactly once") {
  for (std::int64_t count : {0, 1, 5, 64, 1000}) {
    std::vector<int> touched(static_cast<std::size_t>(count));
    parallel_for(count, 10, test::thread_counts().back(),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     ++touched[static_cast<std::size_t>(i)];
                 });
    for (int times : touched) CHECK(times == 1);
  }
}

}  // namespace headway::kernels
