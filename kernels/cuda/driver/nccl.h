// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "common/error.h"

namespace headway::cuda {

/// The part of NCCL's interface that Headway uses, as declared in nccl.h (version 2.14 and newer);
/// tests compare it with that header.
namespace nccl {
struct Communicator;
/// One rank makes it, and all ranks pass it to init_rank.
struct UniqueId {
  char bytes[128];
};
/// Added in 2.14, for communicators with nonblocking calls. Newer libraries recognise the version
/// by its size.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;  ///< tells NCCL that the struct was initialised
  unsigned version = 21400;
  int blocking = 0;  ///< 0: calls return kInProgress instead of waiting
};
enum Result : int { kSuccess = 0, kInProgress = 7 };
enum DataType : int { kUint8 = 1, kFloat16 = 6, kFloat32 = 7 };
enum Operation : int { kSum = 0 };
}  // namespace nccl

/// NCCL, found at run time. Throws Error (bad input) that says what is missing.
class Nccl {
 public:
  Nccl();

  int (*get_unique_id)(nccl::UniqueId*) = nullptr;
  int (*init_rank)(nccl::Communicator**, int ranks, nccl::UniqueId, int rank,
                   nccl::Config*) = nullptr;
  int (*async_error)(nccl::Communicator*, int* result) = nullptr;
  int (*abort)(nccl::Communicator*) = nullptr;
  int (*finalize)(nccl::Communicator*) = nullptr;
  int (*destroy)(nccl::Communicator*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, nccl::Communicator*,
                    CUstream) = nullptr;
  /// `each`: the number of values that each rank gets.
  int (*reduce_scatter)(const void*, void*, std::size_t each, int type, int operation,
                        nccl::Communicator*, CUstream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t each, int type, nccl::Communicator*,
                    CUstream) = nullptr;
  /// Messages between the two are one operation, so their order does not matter.
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int type, int to, nccl::Communicator*, CUstream) = nullptr;
  int (*receive)(void*, std::size_t, int type, int from, nccl::Communicator*, CUstream) = nullptr;

  /// "unhandled cuda error (last: Duplicate GPU detected ...)"
  std::string text_of(int result, nccl::Communicator* communicator) const;
  /// 22809: 2.28.9.
  int version() const { return version_; }

 private:
  const char* (*error_string_)(int) = nullptr;
  const char* (*last_error_)(nccl::Communicator*) = nullptr;
  int version_ = 0;
};

}  // namespace headway::cuda
