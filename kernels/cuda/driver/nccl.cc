// SPDX-License-Identifier: MIT
#include "kernels/cuda/driver/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace headway::cuda {
namespace {

template <class Function>
void find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (!function) fail_input("libnccl.so.2 has no {}: use NCCL 2.14 or newer", name);
}

}  // namespace

Nccl::Nccl() {
  // Never unloaded: it runs its own threads.
  void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_input(
        "libnccl.so.2 is not found by its name: add its folder (of the toolkit, or nvidia/nccl/lib "
        "among the "
        "Python packages) to LD_LIBRARY_PATH");
  int (*get_version)(int*) = nullptr;
  find(library, get_version, "ncclGetVersion");
  find(library, get_unique_id, "ncclGetUniqueId");
  find(library, init_rank, "ncclCommInitRankConfig");
  find(library, async_error, "ncclCommGetAsyncError");
  find(library, abort, "ncclCommAbort");
  find(library, finalize, "ncclCommFinalize");
  find(library, destroy, "ncclCommDestroy");
  find(library, all_reduce, "ncclAllReduce");
  find(library, reduce_scatter, "ncclReduceScatter");
  find(library, all_gather, "ncclAllGather");
  find(library, group_start, "ncclGroupStart");
  find(library, group_end, "ncclGroupEnd");
  find(library, send, "ncclSend");
  find(library, receive, "ncclRecv");
  find(library, error_string_, "ncclGetErrorString");
  find(library, last_error_, "ncclGetLastError");
  if (const int result = get_version(&version_); result != nccl::kSuccess)
    fail_input("NCCL does not tell its version: {}", error_string_(result));
}

std::string Nccl::text_of(int result, nccl::Communicator* communicator) const {
  const char* last = last_error_(communicator);
  if (!last || !*last) return error_string_(result);
  std::string text = fmt::format("{} ({})", error_string_(result), last);
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace headway::cuda
