// SPDX-License-Identifier: MIT
// A JPEG of anybody's, decoded in two halves: any bytes give a picture or an Error.
#include <vector>

#include "common/error.h"
#include "reference_trainer/data/jpeg_coefficients.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway;
  using namespace headway::trainer;
  constexpr std::int64_t kMostBlocks = 1 << 14;  // more take time and memory, and find no more
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const auto extent = jpeg_extent(bytes, "fuzz");
    if (!extent || extent->blocks > kMostBlocks) return 0;
    std::vector<std::int16_t> coefficients(static_cast<std::size_t>(extent->coefficients()));
    const kernels::JpegPicture picture = read_jpeg_coefficients(bytes, "fuzz", coefficients);
    std::vector<std::uint8_t> samples(coefficients.size());
    std::vector<std::uint8_t> to(static_cast<std::size_t>(3 * extent->pixels()));
    kernels::run(kernels::DecodeJpegBlocks{1, extent->blocks, coefficients.data(), &picture,
                                           samples.data(), to.data()});
    ++test::accepted;
  } catch (const Error&) {
  }
  return 0;
}
