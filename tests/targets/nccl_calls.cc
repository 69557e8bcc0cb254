// SPDX-License-Identifier: MIT
// Calls the real NCCL with a null communicator, on a machine without a GPU: every call is refused, and
// tells NVTX of itself before that. Usage: nccl_calls LIBNCCL
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

int main(int argc, char** argv) {
  void* nccl = argc > 1 ? ::dlopen(argv[1], RTLD_NOW) : nullptr;
  if (!nccl) {
    std::printf("no NCCL: %s\n", argc > 1 ? ::dlerror() : "no argument");
    return 77;
  }
  auto find = [&](const char* name) { return ::dlsym(nccl, name); };
  constexpr std::size_t kCount = 1000;
  constexpr int kFloat32 = 7;
  constexpr int kMax = 2;
  constexpr int kSum = 0;
  constexpr int kRoot = 3;
  const float data[1] = {};
  float out[1] = {};
  using AllReduce = int (*)(const void*, void*, std::size_t, int, int, void*, void*);
  using Gather = int (*)(const void*, void*, std::size_t, int, void*, void*);
  using Broadcast = int (*)(const void*, void*, std::size_t, int, int, void*, void*);
  using Reduce = int (*)(const void*, void*, std::size_t, int, int, int, void*, void*);
  using Send = int (*)(const void*, std::size_t, int, int, void*, void*);
  auto version = reinterpret_cast<int (*)(int*)>(find("ncclGetVersion"));
  int number = 0;
  if (version) version(&number);
  // It initialises NCCL, which registers its enumerations then; the id itself is of no use here.
  if (auto call = reinterpret_cast<int (*)(char*)>(find("ncclGetUniqueId"))) {
    char id[128];
    std::printf("unique id %d\n", call(id));
  }
  int refused = 0;
  auto count = [&](int result) { refused += result != 0; };
  if (auto call = reinterpret_cast<AllReduce>(find("ncclAllReduce"))) {
    count(call(data, out, kCount, kFloat32, kMax, nullptr, nullptr));
    count(call(data, out, 2 * kCount, kFloat32, kSum, nullptr, nullptr));
  }
  if (auto call = reinterpret_cast<AllReduce>(find("ncclReduceScatter")))
    count(call(data, out, kCount, kFloat32, kSum, nullptr, nullptr));
  if (auto call = reinterpret_cast<Gather>(find("ncclAllGather")))
    count(call(data, out, kCount, kFloat32, nullptr, nullptr));
  if (auto call = reinterpret_cast<Broadcast>(find("ncclBroadcast")))
    count(call(data, out, kCount, kFloat32, kRoot, nullptr, nullptr));
  if (auto call = reinterpret_cast<Reduce>(find("ncclReduce")))
    count(call(data, out, kCount, kFloat32, kSum, kRoot, nullptr, nullptr));
  if (auto call = reinterpret_cast<Send>(find("ncclSend")))
    count(call(data, kCount, kFloat32, kRoot, nullptr, nullptr));
  if (auto call = reinterpret_cast<Send>(find("ncclRecv")))
    count(call(out, kCount, kFloat32, kRoot, nullptr, nullptr));
  std::printf("NCCL %d refused %d\n", number, refused);
}
