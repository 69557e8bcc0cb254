// SPDX-License-Identifier: MIT
// The library's entry points inside this process, many threads at once, against a real session and a
// real drain: the case that the thread sanitizer is for.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "collector/inject/nvtx_types.h"
#include "collector/record/drain.h"
#include "collector/record/session_socket.h"
#include "collector/record/trace_assembler.h"
#include "tests/collector/run_recorder.h"

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);
extern "C" int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t*);

namespace headway::record {
namespace {

/// One copy of NVTX, as each library that embeds it has one.
struct NvtxCopy {
  NvtxFunctionPointer core[NVTX_CBID_CORE_SIZE] = {};
  NvtxFunctionPointer core2[NVTX_CBID_CORE2_SIZE] = {};
  NvtxFunctionPointer* core_table[NVTX_CBID_CORE_SIZE] = {};
  NvtxFunctionPointer* core2_table[NVTX_CBID_CORE2_SIZE] = {};

  template <class Function>
  Function of(NvtxFunctionPointer function) const {
    return reinterpret_cast<Function>(function);
  }
};
NvtxCopy g_copies[2];
thread_local NvtxCopy* t_initialising = nullptr;

int get_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  NvtxCopy& copy = *t_initialising;
  for (int i = 0; i < NVTX_CBID_CORE_SIZE; ++i) copy.core_table[i] = &copy.core[i];
  for (int i = 0; i < NVTX_CBID_CORE2_SIZE; ++i) copy.core2_table[i] = &copy.core2[i];
  if (module == NVTX_CB_MODULE_CORE) {
    *table = copy.core_table;
    *size = NVTX_CBID_CORE_SIZE;
    return 1;
  }
  *table = copy.core2_table;
  // An older NVTX: fewer functions than we know.
  *size = NVTX_CBID_CORE2_Initialize;
  return module == NVTX_CB_MODULE_CORE2;
}

const void* get_export_table(std::uint32_t id) {
  static const NvtxExportTableCallbacks table = {sizeof table, get_table};
  return id == NVTX_ETID_CALLBACKS ? &table : nullptr;
}

void initialise(NvtxCopy& copy) {
  t_initialising = &copy;
  CHECK(InitializeInjectionNvtx2(get_export_table) == 1);
}

/// A recorder of this very process, its drain and writer in threads of their own.
struct InProcessRecorder {
  InProcessRecorder() {
    ::setenv(wire::kSessionVariable, socket.path().c_str(), 1);
    writing = std::thread([this] { assembler.run(queue); });
    draining = std::thread([this] { drain.run(); });
    accepting = std::thread([this] {
      while (!stop) {
        for (Arrival& arrival : socket.receive()) {
          auto segment = std::make_shared<LiveSegment>();
          segment->id = ++segments;
          std::string why_not;
          segment->reader = SegmentReader::map(arrival.memory, arrival.hello.layout, why_not);
          queue.send(SegmentAdded{segment->id, arrival.pid});
          drain.add(segment);
          welcome(arrival, segment->reader != nullptr, wire::Clock::kRealtime);
        }
        ::usleep(500);
      }
    });
  }
  void finish() {
    stop = true;
    accepting.join();
    drain.finish();
    draining.join();
    queue.close();
    writing.join();
    assembler.finish();
    sink.finish();
  }

  test::TemporaryFolder folder;
  TraceSink sink{folder / "run.sqlite", false};
  SessionSocket socket;
  MessageQueue queue;
  Progress progress;
  Scope scope{ScopeOptions()};
  TraceAssembler assembler{sink,  read_clocks(), wire::Clock::kRealtime,
                           scope, progress,      [](SegmentId) {}};
  Drain drain{queue};
  std::atomic<bool> stop = false;
  SegmentId segments = 0;
  std::thread writing, draining, accepting;
};

void use_nvtx(const NvtxCopy& nvtx, int number) {
  auto push = nvtx.of<nvtxRangePushA_impl_fntype>(nvtx.core[NVTX_CBID_CORE_RangePushA]);
  auto pop = nvtx.of<nvtxRangePop_impl_fntype>(nvtx.core[NVTX_CBID_CORE_RangePop]);
  auto create = nvtx.of<nvtxDomainCreateA_impl_fntype>(nvtx.core2[NVTX_CBID_CORE2_DomainCreateA]);
  auto text = nvtx.of<nvtxDomainRegisterStringA_impl_fntype>(
      nvtx.core2[NVTX_CBID_CORE2_DomainRegisterStringA]);
  auto domain_push =
      nvtx.of<nvtxDomainRangePushEx_impl_fntype>(nvtx.core2[NVTX_CBID_CORE2_DomainRangePushEx]);
  auto domain_pop =
      nvtx.of<nvtxDomainRangePop_impl_fntype>(nvtx.core2[NVTX_CBID_CORE2_DomainRangePop]);
  for (int i = 0; i < 200; ++i) {
    CHECK(push("plain") == 0);
    // All threads register the same things at the same time.
    nvtxDomainHandle_t domain = create("shared domain");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = text(domain, ("text " + std::to_string(i % 10)).c_str());
    CHECK(domain_push(domain, &event) == 0);
    CHECK(domain_pop(domain) == 0);
    CHECK(pop() == 0);
    if (i % 20 == number % 20) ::usleep(200);
  }
}

}  // namespace

TEST_CASE("many threads of one process, through two copies of NVTX, are recorded without a race") {
  InProcessRecorder recorder;
  std::vector<std::thread> threads;
  // Both copies are initialised at the same time, each by its first caller.
  for (NvtxCopy& copy : g_copies) threads.emplace_back([&copy] { initialise(copy); });
  for (std::thread& thread : threads) thread.join();
  CHECK((g_copies[0].core2[NVTX_CBID_CORE2_Initialize] == nullptr));
  constexpr int kThreads = 8;
  for (int wave = 0; wave < 3; ++wave) {
    threads.clear();
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([i] { use_nvtx(g_copies[i % 2], i); });
    for (std::thread& thread : threads) thread.join();
  }
  recorder.finish();
  std::filesystem::path trace = recorder.folder / "run.sqlite";
  CHECK(test::ranges(trace, "plain") == 3 * kThreads * 200);
  for (int i = 0; i < 10; ++i)
    CHECK(test::ranges(trace, "text " + std::to_string(i)) == 3 * kThreads * 20);
  CHECK(test::number(trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=75") == 1);
  CHECK(test::number(trace, "SELECT count(*) FROM HEADWAY_LOSS WHERE severity='loss'") == 0);
  CHECK(recorder.segments == 1);
}

TEST_CASE("extensions that are not ours are left alone, and the answer is always yes") {
  std::intptr_t slots[63] = {};
  nvtxExtModuleSegment_t segment{0, 63, slots};
  nvtxExtModuleInfo_t module{};
  module.moduleId = 77;
  module.segmentsCount = 1;
  module.segments = &segment;
  CHECK(InitializeInjectionNvtxExtension(&module) == 1);
  for (std::intptr_t slot : slots) CHECK(slot == 0);
  CHECK(InitializeInjectionNvtxExtension(nullptr) == 1);
}

}  // namespace headway::record
