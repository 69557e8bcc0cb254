// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <deque>

#include "common/error.h"
#include "kernels/insert_zeros/launch.h"
#include "kernels/mean_pool/launch.h"
#include "kernels/parts/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

TEST_CASE("the mean over positions agrees with double precision, forward and backward") {
  struct Extents {
    std::int64_t images, positions, channels;
  };
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (auto [images, positions, channels] :
         {Extents{1, 1, 1}, {3, 49, 7}, {5, 49, 64}, {2, 1, 24}, {70, 9, 300}, {1, 1000, 2048}}) {
      for (std::size_t offset : {0U, 1U}) {
        CAPTURE(channels);
        const std::int64_t large = images * positions * channels, small = images * channels;
        const auto x = rounded(format, random_floats(large, 1)),
                   dy = rounded(format, random_floats(small, 2));
        std::vector<double> sums(at(small));
        std::vector<float> y(at(small)), dx(at(large));
        for (std::int64_t i = 0; i < large; ++i) {
          const std::int64_t of = i / (positions * channels) * channels + i % channels;
          sums[at(of)] += x[at(i)];
          dx[at(i)] = static_cast<float>(double{dy[at(of)]} / static_cast<double>(positions));
        }
        for (std::size_t i = 0; i < y.size(); ++i)
          y[i] = static_cast<float>(sums[i] / static_cast<double>(positions));
        const Array from(format, x, offset), to(format, small, offset);
        const Array dev_dy(format, dy, offset), dev_dx(format, large, offset);
        gpu().run(mean_pool_forward(gpu().limits(), format, images, positions, channels, from.get(),
                                    to.get()));
        CHECK(largest_difference(to.read(), y) < tolerance(format));
        gpu().run(mean_pool_backward(gpu().limits(), format, images, positions, channels,
                                     dev_dy.get(), dev_dx.get()));
        CHECK(largest_difference(dev_dx.read(), dx) < tolerance(format));
      }
    }
  }
  CHECK_THROWS_AS(mean_pool_forward(gpu().limits(), NumberFormat::kFloat32, 1, 0, 8,
                                    reinterpret_cast<void*>(16), reinterpret_cast<void*>(16)),
                  Error);
}

TEST_CASE("parts become rows of a table and come back, image by image, unchanged") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const auto& elements : {std::vector<std::int64_t>{1},
                                 {8, 16, 800},
                                 {24, 1, 9, 3},
                                 {5'000, 40, 8, 8, 8, 16, 64}}) {
      for (std::int64_t images : {1, 3}) {
        CAPTURE(elements.size());
        std::deque<Array> arrays;  // they do not move
        std::vector<std::vector<float>> values;
        std::vector<Part> parts;
        std::vector<float> table;
        std::int64_t row = 0;
        for (std::size_t p = 0; p < elements.size(); ++p) {
          values.push_back(
              rounded(format, random_floats(images * elements[p], static_cast<unsigned>(p))));
          row += elements[p];
        }
        for (std::int64_t image = 0; image < images; ++image)
          for (std::size_t p = 0; p < elements.size(); ++p)
            table.insert(table.end(), values[p].begin() + image * elements[p],
                         values[p].begin() + (image + 1) * elements[p]);

        for (std::size_t p = 0; p < elements.size(); ++p) {
          arrays.emplace_back(format, values[p]);
          parts.push_back({arrays.back().get(), elements[p]});
        }
        const Array joined(format, images * row);
        gpu().run(join_parts(gpu().limits(), format, images, parts, joined.get()));
        CHECK(joined.read() == table);
        for (std::size_t p = 0; p < elements.size(); ++p) {
          arrays.emplace_back(format, images * elements[p]);
          parts[p].at = arrays.back().get();
        }
        gpu().run(split_parts(gpu().limits(), format, images, parts, joined.get()));
        for (std::size_t p = 0; p < elements.size(); ++p)
          CHECK(arrays[elements.size() + p].read() == values[p]);
      }
    }
  }
  const std::vector<Part> many(17, {reinterpret_cast<void*>(16), 8});
  CHECK_THROWS_AS(
      join_parts(gpu().limits(), NumberFormat::kFloat32, 1, many, reinterpret_cast<void*>(16)),
      Error);
}

TEST_CASE("zeros are inserted as on the processor, in every format, packed and not") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const kernels::InsertZeros shape : {kernels::InsertZeros{2, 7, 5, 16, 2, 14, 10},
                                             {3, 4, 4, 5, 2, 7, 8},
                                             {6, 3, 2, 1, 3, 7, 4},
                                             {1, 1, 1, 8, 2, 1, 1}}) {
      CAPTURE(shape.inner);
      const auto from =
          rounded(format, random_floats(shape.maps * shape.height * shape.width * shape.inner, 1));
      std::vector<float> expected(at(shape.results()));
      kernels::insert_zeros(shape, from.data(), expected.data());
      const Array in(format, from);
      const Array out(format, shape.results());
      gpu().run(insert_zeros(gpu().limits(), format, shape, in.get(), out.get()));
      CHECK(out.read() == expected);
    }
  }
  CHECK_THROWS_AS(insert_zeros(gpu().limits(), NumberFormat::kFloat32, {1, 2, 2, 1, 2, 2, 2},
                               reinterpret_cast<void*>(16), reinterpret_cast<void*>(16)),
                  Error);
}

}  // namespace headway::test
