// SPDX-License-Identifier: MIT
// What decoding a JPEG costs a worker: all of it (libjpeg), the half that stays with the worker when a device does the rest, and that
// rest as the processor's kernel. One thread, pictures of chroma of half the rows and columns, side by side in one run; the content
// is simulated: waves and noise. Usage: headway_bench_jpeg [--quick]
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/parallel.h"
#include "reference_trainer/data/jpeg_coefficients.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/random.h"
#include "tests/bench/bench_support.h"

namespace {

using namespace headway::trainer;
using headway::bench::median_seconds;

Picture simulated_picture(int height, int width) {
  Picture picture{height, width, {}};
  Random random(1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.rgb.push_back(static_cast<std::uint8_t>(
            128 + 60 * std::sin(0.013 * x * (c + 1) + 0.031 * y) +
            30 * std::sin(0.11 * x - 0.07 * y * (c + 1)) + 20 * random.uniform()));
  return picture;
}

void bench(int height, int width, int quality, int repeats) {
  const std::vector<std::byte> jpeg = encode_jpeg(simulated_picture(height, width), quality);
  const JpegExtent extent = *jpeg_extent(jpeg, "bench");
  std::vector<std::int16_t> coefficients(static_cast<std::size_t>(extent.coefficients()));
  std::vector<std::uint8_t> samples(coefficients.size());
  std::vector<std::uint8_t> to(static_cast<std::size_t>(3 * extent.pixels()));
  headway::kernels::JpegPicture picture;
  const double whole = median_seconds(repeats, [&] { decode_picture(jpeg, "bench"); });
  const double header = median_seconds(repeats, [&] { jpeg_extent(jpeg, "bench"); });
  const double first = median_seconds(
      repeats, [&] { picture = read_jpeg_coefficients(jpeg, "bench", coefficients); });
  const double second = median_seconds(repeats, [&] {
    headway::kernels::run(headway::kernels::DecodeJpegBlocks{1, extent.blocks, coefficients.data(),
                                                             &picture, samples.data(), to.data()});
  });
  const std::string name =
      fmt::format("jpeg_{}x{}_{}_kb", height, width, (jpeg.size() + 500) / 1000);
  fmt::print("{}_decode_picture: {:.1f} us\n", name, whole * 1e6);
  fmt::print("{}_extent: {:.1f} us\n", name, header * 1e6);
  fmt::print("{}_coefficients: {:.1f} us\n", name, first * 1e6);
  fmt::print("{}_kernel: {:.1f} us\n", name, second * 1e6);
  fmt::print("{}_coefficients_of_decode: {:.2f}\n", name, first / whole);
  fmt::print("{}_both_halves_of_decode: {:.2f}\n", name, (first + second) / whole);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = headway::bench::is_quick(argc, argv);
  headway::kernels::set_max_threads(1);
  const int repeats = quick ? 3 : 201;
  bench(256, 256, 90, repeats);
  bench(375, 500, 60, repeats);
  bench(375, 500, 96, repeats);
}
