// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "common/error.h"

namespace headway::cuda {

/// NCCL's interface as nccl.h declares it (version 2.14 and newer), as far as Headway uses it; tests compare it with that header.
namespace nccl {
struct Communicator;
/// Made by one rank, and given to all before init_rank.
struct UniqueId {
  char bytes[128];
};
/// What came with 2.14, for communicators whose calls do not wait. Newer libraries take it by its size.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;  ///< by which NCCL knows that it was filled in
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
  /// `each`: values that a rank gets.
  int (*reduce_scatter)(const void*, void*, std::size_t each, int type, int operation,
                        nccl::Communicator*, CUstream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t each, int type, nccl::Communicator*,
                    CUstream) = nullptr;
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
