// SPDX-License-Identifier: MIT
// Products of square matrices by cuBLASLt, in whichever version is found. The data is random: zeros
// draw less power, so the clock would stay higher than in training.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <random>
#include <vector>

#include "cli/calibrate/cuda/measurements.h"
#include "common/error.h"
#include "kernels/cuda/driver/product.h"

namespace headway::calibrate {
namespace {

using cuda::cublas_lt::Type;

struct Precision {
  MachineFigure figure;
  Type type;
  bool tf32;
  std::size_t bytes;
};
constexpr auto kPrecisions = std::to_array<Precision>({
    {MachineFigure::kGemmFp32, Type::kFp32, false, 4},
    {MachineFigure::kGemmTf32, Type::kFp32, true, 4},
    {MachineFigure::kGemmFp16, Type::kFp16, false, 2},
    {MachineFigure::kGemmBf16, Type::kBf16, false, 2},
});
constexpr int kRepetitions = 12;

/// Numbers of both signs with magnitudes from 0.5 to 1, encoded in the bits of the type.
std::vector<std::uint32_t> random_bits(Type type, std::size_t words) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> bits(words);
  for (std::uint32_t& word : bits) {
    const auto any = static_cast<std::uint32_t>(random());
    if (type == Type::kFp32)
      word = (any & 0x807f'ffffu) | 0x3f00'0000u;
    else if (type == Type::kFp16)
      word = (any & 0x83ff'83ffu) | 0x3800'3800u;
    else
      word = (any & 0x807f'807fu) | 0x3f00'3f00u;
  }
  return bits;
}

void fill(const Session& session, CUdeviceptr at, std::size_t bytes,
          const std::vector<std::uint32_t>& bits) {
  const std::size_t block = bits.size() * sizeof bits.front();
  for (std::size_t done = 0; done < bytes; done += block)
    cuda::upload(session.driver(), at + done, bits.data(), std::min(block, bytes - done));
}

std::vector<double> flops(Session& session, const cuda::CublasLt& library,
                          const Precision& precision, std::int64_t n) {
  cuda::ProductShape shape{n, n, n};
  shape.operands = shape.result = precision.type;
  shape.tf32 = precision.tf32;
  const cuda::Product product(library, shape);
  const std::size_t bytes = static_cast<std::size_t>(n * n) * precision.bytes;
  const Driver& driver = session.driver();
  const DeviceMemory a(driver, bytes), b(driver, bytes), d(driver, bytes);
  const DeviceMemory workspace(driver, cuda::cublas_lt::kWorkspaceBytes);
  const std::vector<std::uint32_t> bits = random_bits(precision.type, 1 << 20);
  fill(session, a.address(), bytes, bits);
  fill(session, b.address(), bytes, bits);
  auto at = [](const DeviceMemory& memory) { return std::bit_cast<void*>(memory.address()); };
  auto run = [&] { product.run(session.stream(), at(a), at(b), at(d), at(workspace)); };
  for (int i = 0; i < 3; ++i) session.time(run);  // warms up
  std::vector<double> rates;
  const auto side = static_cast<double>(n);
  for (int i = 0; i < kRepetitions; ++i)
    rates.push_back(2.0 * side * side * side / session.time(run));
  return rates;
}

}  // namespace

void measure_gemms(Session& session, FigureSet& figures) {
  const cuda::CublasLt library;
  // Three matrices of 8192² floats are 0.8 GB.
  const std::int64_t n = session.context().free_bytes() > (std::size_t{2} << 30) ? 8192 : 4096;
  std::string failed;
  for (const Precision& precision : kPrecisions) {
    try {
      figures[precision.figure] = figure_of(flops(session, library, precision, n));
    } catch (const Error& error) {
      failed += fmt::format("{}{}: {}", failed.empty() ? "" : "; ", info(precision.figure).id,
                            error.what());
    }
  }
  if (!failed.empty()) fail_internal("{}", failed);
}

}  // namespace headway::calibrate
