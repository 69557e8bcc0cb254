// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// What a program asks of the CUPTI that stands in for the real one on machines without a GPU
/// (fake_cupti.cc). Times are CLOCK_REALTIME in ns.
extern "C" {

struct FakeCall {
  bool driver;
  std::uint32_t cbid;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
};
struct FakeKernel {
  const char* name;
  std::uint32_t correlation;
  std::uint32_t stream;
  std::uint64_t start;
  std::uint64_t end;  ///< 0: not over yet
};
struct FakeCopy {
  std::uint8_t kind;  ///< CUpti_ActivityMemcpyKind
  std::uint64_t bytes;
  std::uint32_t correlation;
  std::uint32_t stream;
  std::uint64_t start;
  std::uint64_t end;
};
struct FakeWait {
  std::uint32_t type;  ///< CUpti_ActivitySynchronizationType
  std::uint32_t correlation;
  std::uint32_t stream;
  std::uint64_t start;
  std::uint64_t end;
};
struct FakeMemory {
  bool release;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t correlation;
  std::uint64_t time;
};
void fake_cupti_memory(const FakeMemory* memory);
/// A pool of 64 MiB of which `used` bytes are in use is trimmed.
void fake_cupti_pool(std::uint64_t used, std::uint64_t time);
/// Time inside the callbacks of who is subscribed.
std::uint64_t fake_cupti_spent_ns();
void fake_cupti_call(const FakeCall* call);
void fake_cupti_kernel(const FakeKernel* kernel);
void fake_cupti_copy(const FakeCopy* copy);
void fake_cupti_wait(const FakeWait* wait);
void fake_cupti_profiler(bool start);
bool fake_cupti_collects();
}
