// SPDX-License-Identifier: MIT
// --allocator raw: memory of a step that comes before each op and goes after it.
#include "tests/reference_trainer/raw_allocator.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "common/error.h"
#include "reference_trainer/devices/host/reserved_memory.h"
#include "reference_trainer/train/build_model.h"
#include "tests/reference_trainer/nvtx_recorder.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using conventions::DeviceCallKind;
using conventions::DeviceCallPayload;
using test::NvtxEvent;

/// Whether the piece may be read: the operating system looks, so that nobody is killed.
bool readable(const void* piece) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const bool read = ::write(ends[1], piece, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return read;
}

/// The most private memory that the process may have, as long as it lives.
class DataLimit {
 public:
  explicit DataLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_DATA, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  ~DataLimit() { ::setrlimit(RLIMIT_DATA, &before_); }

 private:
  rlimit before_{};
};

std::vector<std::pair<NvtxEvent, DeviceCallPayload>> memory_calls(
    const std::vector<NvtxEvent>& events) {
  std::vector<std::pair<NvtxEvent, DeviceCallPayload>> calls;
  for (const NvtxEvent& event : events) {
    if (event.schema != conventions::kDeviceCallSchema) continue;
    const auto call = event.as<DeviceCallPayload>();
    const auto kind = static_cast<DeviceCallKind>(call.kind);
    if (kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree)
      calls.emplace_back(event, call);
  }
  return calls;
}

}  // namespace

TEST_CASE("reserved pages come zeroed, keep what is written, and are gone when given back") {
  const ReservedMemory memory(3 * 4096 + 1);
  CHECK(memory.bytes() == 4 * 4096);
  ReservedMemory::give_back(memory.begin(), memory.bytes());
  CHECK(!readable(memory.begin()));
  std::byte* const piece = memory.begin() + 4096;
  for (int round = 0; round < 2; ++round) {
    REQUIRE(ReservedMemory::get(piece, 5000));
    CHECK(readable(piece));
    CHECK(readable(piece + 8191));
    CHECK(!readable(piece - 1));
    CHECK(!readable(piece + 8192));
    CHECK(std::all_of(piece, piece + 8192, [](std::byte b) { return b == std::byte{0}; }));
    std::fill(piece, piece + 8192, std::byte{7});
    ReservedMemory::give_back(piece, 5000);
    CHECK(!readable(piece));
  }
}

TEST_CASE("memory that comes and goes changes no result, and none is left") {
  const test::TemporaryFolder cache;
  test::check_raw_allocator(
      [](const Settings& settings) {
        HostDevice device({1});
        return test::train_on(device, settings);
      },
      cache.path());
}

TEST_CASE("each step gets and gives back the same memory, in calls inside the ranges of its ops") {
  Settings settings = test::tiny_settings();
  settings.raw_allocator = true;
  settings.steps = 3;
  test::NvtxRecorder::start();
  test::train(settings);
  const auto events = test::NvtxRecorder::stop();
  std::vector<const NvtxEvent*> steps;
  for (const NvtxEvent& event : events)
    if (event.name == "step") steps.push_back(&event);
  REQUIRE(steps.size() == 3);
  std::vector<std::multiset<std::int64_t>> got(3);
  for (std::size_t i = 0; i < 3; ++i) {
    std::multiset<std::int64_t> held;
    for (const auto& [event, call] : memory_calls(events)) {
      if (event.start_ns < steps[i]->start_ns || event.end_ns > steps[i]->end_ns) continue;
      CHECK(event.thread == steps[i]->thread);
      CHECK(event.depth == 3);  // step, phase, op
      if (static_cast<DeviceCallKind>(call.kind) == DeviceCallKind::kAllocate) {
        held.insert(call.bytes);
        got[i].insert(call.bytes);
      } else {
        REQUIRE(held.contains(call.bytes));
        held.erase(held.find(call.bytes));
      }
    }
    CHECK(held.empty());
  }
  CHECK(got[0].size() > 50);
  CHECK(got[1] == got[0]);
  CHECK(got[2] == got[0]);
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their allocators want memory, too
TEST_CASE("memory that the host does not have is said with the op that wanted it") {
  Settings settings = test::tiny_settings();
  settings.batch = 64;
  std::string note;
  DataSetup data(
      settings, [](auto, auto) {}, note);
  GradientSync::Pairs gradients;
  const Model model = build_training_model(settings, data.data(), gradients);
  HostDevice device({1});
  const auto compiled = device.compile(model.graph, {.raw_allocator = true});
  const std::int64_t lasting = compiled->memory_bytes();
  std::string said;
  {
    const DataLimit limit(1 << 20);
    try {
      compiled->allocate_for(NodeId{0});
    } catch (const Error& error) {
      said = error.what();
    }
  }
  CHECK(said ==
        "Before op 'stem.conv' (conv2d): Out of memory: the host device could not allocate 1605632 "
        "bytes. Use a smaller batch.");
  CHECK(compiled->memory_bytes() == lasting);
  compiled->allocate_for(NodeId{0});
  CHECK(compiled->memory_bytes() > lasting);
}
#endif

}  // namespace headway::trainer
