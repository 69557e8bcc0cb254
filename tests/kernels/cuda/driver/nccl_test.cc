// SPDX-License-Identifier: MIT
// What is declared of NCCL by hand, against its header where there is one; and the library itself, where it is installed, as far
// as it goes without a GPU.
#include <doctest/doctest.h>

#include <cstddef>

#include "common/error.h"
#include "kernels/cuda/driver/nccl.h"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime_api.h>)
#include <nccl.h>
#endif

namespace headway::cuda {
namespace {

#ifdef NCCL_H_
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(sizeof(nccl::Config) <= sizeof(ncclConfig_t));
static_assert(int{nccl::kSuccess} == int{ncclSuccess} &&
              int{nccl::kInProgress} == int{ncclInProgress});
static_assert(int{nccl::kUint8} == int{ncclUint8} && int{nccl::kFloat16} == int{ncclFloat16} &&
              int{nccl::kFloat32} == int{ncclFloat32});
static_assert(int{nccl::kSum} == int{ncclSum});

/// Sizes of the parameters together.
template <class Function>
struct Count;
template <class... Arguments>
struct Count<int (*)(Arguments...)> {
  static constexpr std::size_t kBytes = (0 + ... + sizeof(Arguments));
};
template <class... Arguments>
struct Count<ncclResult_t (*)(Arguments...)> {
  static constexpr std::size_t kBytes = (0 + ... + sizeof(Arguments));
};
template <class Ours, class Theirs>
constexpr bool kSameParameters = Count<Ours>::kBytes == Count<Theirs>::kBytes;
static_assert(kSameParameters<decltype(Nccl::init_rank), decltype(&::ncclCommInitRankConfig)>);
static_assert(kSameParameters<decltype(Nccl::all_reduce), decltype(&::ncclAllReduce)>);
static_assert(kSameParameters<decltype(Nccl::reduce_scatter), decltype(&::ncclReduceScatter)>);
static_assert(kSameParameters<decltype(Nccl::all_gather), decltype(&::ncclAllGather)>);
static_assert(kSameParameters<decltype(Nccl::group_start), decltype(&::ncclGroupStart)>);
static_assert(kSameParameters<decltype(Nccl::group_end), decltype(&::ncclGroupEnd)>);
static_assert(kSameParameters<decltype(Nccl::send), decltype(&::ncclSend)>);
static_assert(kSameParameters<decltype(Nccl::receive), decltype(&::ncclRecv)>);
#endif

}  // namespace

TEST_CASE("NCCL itself has every function, and makes names that differ") {
  std::unique_ptr<Nccl> library;
  try {
    library = std::make_unique<Nccl>();
  } catch (const Error& error) {
    MESSAGE("[skipped] " << error.what());
    return;
  }
  CHECK(library->version() >= 21400);
  nccl::UniqueId name{};
  REQUIRE(library->get_unique_id(&name) == nccl::kSuccess);
  nccl::UniqueId other{};
  REQUIRE(library->get_unique_id(&other) == nccl::kSuccess);
  CHECK(std::string(name.bytes, sizeof name.bytes) != std::string(other.bytes, sizeof other.bytes));

  CHECK(library->text_of(4, nullptr).find("invalid argument") != std::string::npos);
}

}  // namespace headway::cuda
