// SPDX-License-Identifier: MIT
// Products of square matrices by cuBLASLt, whichever version is found. Random data: zeros draw less power,
// so that the clock stays higher than in training.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <memory>
#include <random>
#include <vector>

#include "calibrate/cuda/cublas_lt.h"
#include "calibrate/cuda/measurements.h"
#include "common/error.h"

namespace headway::calibrate {
namespace {

using namespace cublas_lt;

struct Precision {
  MachineFigure figure;
  Type type;
  Compute compute;
  std::size_t bytes;
};
constexpr auto kPrecisions = std::to_array<Precision>({
    {MachineFigure::kGemmFp32, Type::kFp32, Compute::kFp32, 4},
    {MachineFigure::kGemmTf32, Type::kFp32, Compute::kTf32, 4},
    {MachineFigure::kGemmFp16, Type::kFp16, Compute::kFp32, 2},
    {MachineFigure::kGemmBf16, Type::kBf16, Compute::kFp32, 2},
});
constexpr int kRepetitions = 12;

class Library {
 public:
  Library() {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"})
      if (!library_) library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never unloaded
    if (!library_)
      fail_internal(
          "cuBLASLt is not found by its name: add its folder (of the toolkit, or nvidia/cublas/lib "
          "or nvidia/cu13/lib among the Python packages) to LD_LIBRARY_PATH");
    create = find<Create>("cublasLtCreate");
    destroy = find<Destroy>("cublasLtDestroy");
    description_create = find<DescriptionCreate>("cublasLtMatmulDescCreate");
    description_destroy = find<Destroy>("cublasLtMatmulDescDestroy");
    layout_create = find<LayoutCreate>("cublasLtMatrixLayoutCreate");
    layout_destroy = find<Destroy>("cublasLtMatrixLayoutDestroy");
    preference_create = find<PreferenceCreate>("cublasLtMatmulPreferenceCreate");
    preference_destroy = find<Destroy>("cublasLtMatmulPreferenceDestroy");
    preference_set = find<PreferenceSet>("cublasLtMatmulPreferenceSetAttribute");
    get_heuristic = find<GetHeuristic>("cublasLtMatmulAlgoGetHeuristic");
    matmul = find<Matmul>("cublasLtMatmul");
  }

  Create* create;
  Destroy* destroy;
  DescriptionCreate* description_create;
  Destroy* description_destroy;
  LayoutCreate* layout_create;
  Destroy* layout_destroy;
  PreferenceCreate* preference_create;
  Destroy* preference_destroy;
  PreferenceSet* preference_set;
  GetHeuristic* get_heuristic;
  Matmul* matmul;

 private:
  template <class Function>
  Function* find(const char* name) {
    auto* found = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (!found) fail_internal("cuBLASLt has no {}", name);
    return found;
  }
  void* library_ = nullptr;
};

void check(int status, const char* call) {
  if (status != 0) fail_internal("{} failed with status {}", call, status);
}

/// An object of the library.
using Object = std::unique_ptr<void, Destroy*>;

/// Numbers of both signs from 0.5 to 1 in the bits of the type.
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
    HEADWAY_CU(session.driver(), cuMemcpyHtoD, at + done, bits.data(),
               std::min(block, bytes - done));
}

std::vector<double> flops(Session& session, const Library& library, const Precision& precision,
                          std::uint64_t n) {
  auto made = [](int status, void* object, Destroy* destroy, const char* call) {
    check(status, call);
    return Object(object, destroy);
  };
  void* raw = nullptr;
  int status = library.create(&raw);
  const Object handle = made(status, raw, library.destroy, "cublasLtCreate");
  status = library.description_create(&raw, precision.compute, Type::kFp32);
  const Object description =
      made(status, raw, library.description_destroy, "cublasLtMatmulDescCreate");
  status = library.layout_create(&raw, precision.type, n, n, static_cast<std::int64_t>(n));
  const Object layout = made(status, raw, library.layout_destroy, "cublasLtMatrixLayoutCreate");
  status = library.preference_create(&raw);
  const Object preference =
      made(status, raw, library.preference_destroy, "cublasLtMatmulPreferenceCreate");
  check(library.preference_set(preference.get(), kMaxWorkspaceBytes, &kWorkspaceBytes,
                               sizeof kWorkspaceBytes),
        "cublasLtMatmulPreferenceSetAttribute");
  Heuristic best{};
  int found = 0;
  check(library.get_heuristic(handle.get(), description.get(), layout.get(), layout.get(),
                              layout.get(), layout.get(), preference.get(), 1, &best, &found),
        "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) fail_internal("cuBLASLt knows no algorithm for this type on this GPU");
  const std::size_t bytes = n * n * precision.bytes;
  const Driver& driver = session.driver();
  const DeviceMemory a(driver, bytes), b(driver, bytes), d(driver, bytes);
  const DeviceMemory workspace(driver, kWorkspaceBytes);
  const std::vector<std::uint32_t> bits = random_bits(precision.type, 1 << 20);
  fill(session, a.address(), bytes, bits);
  fill(session, b.address(), bytes, bits);
  const float one = 1;
  const float zero = 0;
  auto at = [](const DeviceMemory& memory) { return std::bit_cast<void*>(memory.address()); };
  auto product = [&] {
    check(library.matmul(handle.get(), description.get(), &one, at(a), layout.get(), at(b),
                         layout.get(), &zero, at(d), layout.get(), at(d), layout.get(),
                         &best.algorithm, at(workspace), kWorkspaceBytes, session.stream()),
          "cublasLtMatmul");
  };
  for (int i = 0; i < 3; ++i) session.time(product);  // warms up
  std::vector<double> rates;
  const double operations =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  for (int i = 0; i < kRepetitions; ++i) rates.push_back(operations / session.time(product));
  return rates;
}

}  // namespace

void measure_gemms(Session& session, FigureSet& figures) {
  const Library library;
  // Three matrices of 8192² floats are 0.8 GB.
  const std::uint64_t n = session.context().free_bytes() > (std::size_t{2} << 30) ? 8192 : 4096;
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
