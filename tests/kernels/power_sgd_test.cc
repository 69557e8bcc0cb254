// SPDX-License-Identifier: MIT
#include "kernels/power_sgd/op.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/parallel.h"
#include "tests/kernels/power_bucket.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::PowerBucket;
using test::random_floats;

}  // namespace

TEST_CASE("the products of PowerSGD agree with double precision") {
  for (int threads : test::thread_counts()) {
    for (int rank : {1, 2, 5}) {
      CAPTURE(rank);
      set_max_threads(threads);
      PowerBucket b(rank, {{33, 65}, {128, 300}, {3, 7}}, 41);
      const std::vector<float> q = b.second, before = b.flat, error = b.error;
      run(PowerFirst{b.layout()});
      for (std::size_t i = 0; i < before.size(); ++i) REQUIRE(b.flat[i] == before[i] + error[i]);
      for (const PowerMatrix& m : b.matrices)
        for (std::int64_t row = 0; row < m.rows; ++row)
          for (int k = 0; k < rank; ++k) {
            double sum = 0;
            for (std::int64_t c = 0; c < m.columns; ++c)
              sum +=
                  b.at(b.flat, m.offset + row * m.columns + c) * b.at(q, m.q + k * m.columns + c);
            REQUIRE(b.at(b.p, m.p + k * m.rows + row) ==
                    doctest::Approx(sum).epsilon(1e-5).scale(10));
          }
      run(PowerSecond{b.layout()});
      for (const PowerMatrix& m : b.matrices)
        for (std::int64_t c = 0; c < m.columns; ++c)
          for (int k = 0; k < rank; ++k) {
            double sum = 0;
            for (std::int64_t row = 0; row < m.rows; ++row)
              sum +=
                  b.at(b.flat, m.offset + row * m.columns + c) * b.at(b.p, m.p + k * m.rows + row);
            REQUIRE(b.at(b.second, m.q + k * m.columns + c) ==
                    doctest::Approx(sum).epsilon(1e-5).scale(10));
          }
    }
  }
  set_max_threads(1);
}

TEST_CASE("P becomes orthonormal") {
  for (int rank : {1, 2, 8, 64}) {
    PowerBucket b(rank, {{200, 150}, {64, 90}}, 0);
    run(PowerFirst{b.layout()});
    run(PowerSecond{b.layout()});
    CHECK(b.largest_product_error() < 1e-4);
  }
}

TEST_CASE("PowerSGD restores a matrix of at most its rank") {
  for (int rank : {1, 2, 4}) {
    for (int true_rank = 1; true_rank <= rank; ++true_rank) {
      CAPTURE(rank);
      CAPTURE(true_rank);
      PowerBucket b(rank, {{60, 90}, {31, 17}}, 13);
      std::fill(b.error.begin(), b.error.end(), 0.0F);
      for (const PowerMatrix& m : b.matrices) {
        const auto left = random_floats(m.rows * true_rank, 7),
                   right = random_floats(m.columns * true_rank, 8);
        for (std::int64_t row = 0; row < m.rows; ++row)
          for (std::int64_t c = 0; c < m.columns; ++c) {
            float value = 0;
            for (int k = 0; k < true_rank; ++k)
              value += left[static_cast<std::size_t>(k * m.rows + row)] *
                       right[static_cast<std::size_t>(k * m.columns + c)];
            b.flat[static_cast<std::size_t>(m.offset + row * m.columns + c)] = value;
          }
      }
      const std::vector<float> before = b.flat;
      run(PowerFirst{b.layout()});
      run(PowerSecond{b.layout()});
      run(PowerRestore{b.layout(), 1});
      CHECK(test::largest_difference(b.flat, before) < 1e-3);
      CHECK(b.largest_product_error() <
            0.05);  // loose: columns of rounding errors are so small that the added 1e-8 shows
    }
  }
}

TEST_CASE(
    "what PowerSGD leaves out goes to the error, and values outside matrices are only divided") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    PowerBucket b(2, {{33, 65}, {200, 40}}, 41);
    for (const PowerRest& rest : b.rest)
      std::fill_n(b.error.begin() + rest.offset, rest.count, 0.0F);
    std::vector<float> wanted = b.flat;
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += b.error[i];
    run(PowerFirst{b.layout()});
    run(PowerSecond{b.layout()});
    std::vector<float> q = b.second;
    run(PowerRestore{b.layout(), 0.5F});
    for (float& value : q) value *= 0.5F;
    CHECK(b.second == q);
    for (const PowerMatrix& m : b.matrices)
      for (std::int64_t row = 0; row < m.rows; ++row)
        for (std::int64_t c = 0; c < m.columns; ++c) {
          double value = 0;
          for (int k = 0; k < 2; ++k)
            value += b.at(b.p, m.p + k * m.rows + row) * b.at(b.second, m.q + k * m.columns + c);
          const auto i = static_cast<std::size_t>(m.offset + row * m.columns + c);
          REQUIRE(b.flat[i] == doctest::Approx(value).epsilon(1e-5).scale(1));
          REQUIRE(b.error[i] == wanted[i] - b.flat[i]);
        }
    for (const PowerRest& rest : b.rest)
      for (auto i = static_cast<std::size_t>(rest.offset);
           i < static_cast<std::size_t>(rest.offset + rest.count); ++i) {
        REQUIRE(b.flat[i] == wanted[i] * 0.5F);
        REQUIRE(b.error[i] == 0);
      }
  }
  set_max_threads(1);
}

TEST_CASE("a bucket of zeros stays zero, and one without matrices passes through") {
  PowerBucket zeros(3, {{12, 20}}, 5);
  std::fill(zeros.flat.begin(), zeros.flat.end(), 0.0F);
  std::fill(zeros.error.begin(), zeros.error.end(), 0.0F);
  PowerBucket vectors(2, {}, 9);
  std::fill(vectors.error.begin(), vectors.error.end(), 0.0F);
  const std::vector<float> before = vectors.flat;
  for (PowerBucket* b : {&zeros, &vectors}) {
    run(PowerFirst{b->layout()});
    run(PowerSecond{b->layout()});
    run(PowerRestore{b->layout(), 1});
  }
  CHECK(zeros.flat == std::vector<float>(zeros.flat.size(), 0.0F));
  CHECK(zeros.error == zeros.flat);
  CHECK(vectors.flat == before);
}

TEST_CASE("a gradient that is zero once is sent when it no longer is") {
  PowerBucket b(2, {{30, 40}}, 0);
  const std::vector<float> gradient = random_floats(1200, 5);
  std::fill(b.error.begin(), b.error.end(), 0.0F);
  double squares = 0;
  for (int step = 0; step < 3; ++step) {
    b.flat = step == 0 ? std::vector<float>(1200, 0.0F) : gradient;
    run(PowerFirst{b.layout()});
    run(PowerSecond{b.layout()});
    run(PowerRestore{b.layout(), 1});
    squares = 0;
    for (float value : b.flat) squares += double{value} * value;
    CHECK((squares > 0) == (step > 0));
  }
  CHECK(squares > 100);  // the 1200 values had about 1200
  CHECK(b.largest_product_error() < 1e-4);
}

TEST_CASE("the work of PowerSGD counts both products") {
  PowerBucket b(2, {{10, 20}, {5, 6}}, 7);
  const std::int64_t count = b.layout().count;
  CHECK(work_of(PowerFirst{b.layout()}) == Work{2 * 230 * 2, 12 * count});
  CHECK(work_of(PowerSecond{b.layout()}) == Work{2 * 230 * 2, 8 * count});
  CHECK(work_of(PowerRestore{b.layout()}) == Work{2 * 230 * 2, 12 * count});
}

}  // namespace headway::kernels
