// SPDX-License-Identifier: MIT
// Products by cuBLASLt (kernels/cuda/driver/product.h) in every form that the device asks for, against loops in double.
#include "kernels/cuda/driver/product.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "common/error.h"
#include "kernels/cuda/driver/context.h"
#include "kernels/cuda/driver/memory.h"

namespace headway::cuda {
namespace {

using cublas_lt::Type;

std::size_t size_of(Type type) {
  return type == Type::kFp32 ? 4 : 2;
}
double tolerance(Type type) {
  return type == Type::kFp32 ? 1e-5 : type == Type::kFp16 ? 2e-3 : 1e-2;
}

/// What a type holds, in its bits.
std::vector<std::uint8_t> packed(Type type, std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == Type::kFp16) {
      const auto narrow = static_cast<_Float16>(values[i]);
      std::memcpy(&bytes[2 * i], &narrow, 2);
      values[i] = static_cast<float>(narrow);
    } else if (type == Type::kBf16) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i]) & 0xFFFF0000U;  // cut, not rounded
      const auto narrow = static_cast<std::uint16_t>(bits >> 16);
      std::memcpy(&bytes[2 * i], &narrow, 2);
      values[i] = std::bit_cast<float>(bits);
    } else {
      std::memcpy(&bytes[4 * i], &values[i], 4);
    }
  }
  return bytes;
}

float unpacked(Type type, const std::vector<std::uint8_t>& bytes, std::size_t i) {
  if (type == Type::kFp32) {
    float value;
    std::memcpy(&value, &bytes[4 * i], 4);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, &bytes[2 * i], 2);
  if (type == Type::kBf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

struct Gpu {
  std::string why;
  std::unique_ptr<const Driver> driver = load_driver(why);
  Context context{*driver, 0};
  CublasLt library;
  CUstream stream = nullptr;
  Gpu() { HEADWAY_CU(*driver, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING); }
  ~Gpu() { driver->cuStreamDestroy_(stream); }
};

/// An array of random numbers on both sides.
struct Matrix {
  std::vector<float> values;
  DeviceMemory memory;
  Matrix(const Gpu& gpu, Type type, std::int64_t count, unsigned seed)
      : values(static_cast<std::size_t>(count)),
        memory(*gpu.driver, static_cast<std::size_t>(count) * size_of(type)) {
    std::mt19937 random(seed);
    for (float& value : values)
      value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 1000;
    const std::vector<std::uint8_t> bytes = packed(type, values);
    cuda::upload(*gpu.driver, memory.address(), bytes.data(), bytes.size());
  }
  void* get() const { return std::bit_cast<void*>(memory.address()); }
};

void check_product(Gpu& gpu, const ProductShape& s) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CAPTURE(s.batch);
  CAPTURE(s.transpose_a);
  CAPTURE(s.transpose_b);
  CAPTURE(static_cast<int>(s.operands));
  CAPTURE(static_cast<int>(s.result));
  CAPTURE(s.bias);
  const Matrix a(gpu, s.operands, s.batch * s.m * s.k, 1);
  const Matrix b(gpu, s.operands, s.batch * s.k * s.n, 2);
  const Matrix d(gpu, s.result, s.batch * s.m * s.n, 3);
  const Matrix bias(gpu, s.result, s.n, 4);
  Product product(gpu.library, s);
  const DeviceMemory workspace(*gpu.driver, std::max<std::size_t>(product.workspace_bytes(), 16));
  if (s.bias) product.set_bias(bias.get());
  product.run(gpu.stream, a.get(), b.get(), d.get(), std::bit_cast<void*>(workspace.address()));
  std::vector<std::uint8_t> bytes(d.values.size() * size_of(s.result));
  HEADWAY_CU(*gpu.driver, cuStreamSynchronize, gpu.stream);
  HEADWAY_CU(*gpu.driver, cuMemcpyDtoH, bytes.data(), d.memory.address(), bytes.size());
  double largest = 0;
  for (std::int64_t g = 0; g < s.batch; ++g)
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        double sum = s.bias ? bias.values[static_cast<std::size_t>(j)] : 0;
        for (std::int64_t p = 0; p < s.k; ++p) {
          const std::int64_t in_a = g * s.m * s.k + (s.transpose_a ? p * s.m + i : i * s.k + p);
          const std::int64_t in_b = g * s.k * s.n + (s.transpose_b ? j * s.k + p : p * s.n + j);
          sum += double{a.values[static_cast<std::size_t>(in_a)]} *
                 b.values[static_cast<std::size_t>(in_b)];
        }
        const auto place = static_cast<std::size_t>((g * s.m + i) * s.n + j);
        const double got = unpacked(s.result, bytes, place);
        const double difference = std::abs(got - sum) / (1 + std::abs(sum));
        largest = difference <= largest ? largest : difference;
      }
  CHECK(largest < (s.tf32 ? 5e-3 : tolerance(s.result)));
}

}  // namespace

TEST_CASE("row-major products agree with double precision, transposed, in batches, with a bias") {
  Gpu gpu;
  const std::pair<Type, Type> types[] = {{Type::kFp32, Type::kFp32},
                                         {Type::kFp16, Type::kFp16},
                                         {Type::kFp16, Type::kFp32},
                                         {Type::kBf16, Type::kBf16},
                                         {Type::kBf16, Type::kFp32}};
  for (const auto& [operands, result] : types)
    for (bool transpose_a : {false, true})
      for (bool transpose_b : {false, true})
        for (std::int64_t batch : {1, 3}) {
          ProductShape shape{24, 40, 16, batch, transpose_a, transpose_b, operands, result};
          check_product(gpu, shape);
          shape.bias = batch == 1;
          check_product(gpu, shape);
          if (operands != Type::kFp32) continue;
          shape.tf32 = true;
          check_product(gpu, shape);
          shape = {7, 33, 5, batch, transpose_a, transpose_b};  // odd extents, FP32 only
          check_product(gpu, shape);
        }
}

TEST_CASE("a product that cuBLASLt cannot do is refused when it is made") {
  Gpu gpu;
  ProductShape shape{8, 8, 8};
  shape.result = Type::kFp16;  // of FP32 operands
  CHECK_THROWS_AS(Product(gpu.library, shape), Error);
}

}  // namespace headway::cuda
