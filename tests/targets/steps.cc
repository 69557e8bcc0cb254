// SPDX-License-Identifier: MIT
// steps COUNT STEP_US [WORD]...: a training loop for what is recorded of a run. Each step is a push/pop
// range "step" with a range "work" inside, all within a range "epoch"; before and after the loop come
// "setup" and "teardown". Words:
//   numbered    the steps are called "step 0", "step 1", …
//   declared    they say by a payload that they are steps, from number 100 on, and are called "unit"
//   unnamed     they are called "unit" and say nothing
//   capture=A:B a start/end range "profiled" of domain "mine" around the steps A to B
//   worker      a forked child makes ranges "batch" of 1 ms all the time
//   counter     a sample of the counter "mine.progress" in each step: its number
//   threads     a second thread makes ranges "other" of 1 ms all the time
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "common/nvtx_conventions.h"

namespace {

namespace conventions = headway::conventions;

struct StepPayload {
  std::uint32_t kind = static_cast<std::uint32_t>(conventions::RangeKind::kStep);
  std::uint32_t reserved = 0;
  std::int64_t step = 0;
};

nvtxDomainHandle_t headway_domain() {
  static nvtxDomainHandle_t domain = nvtxDomainCreateA(conventions::kDomain.data());
  return domain;
}

void push_declared(int number) {
  static const std::uint64_t schema = [] {
    static const nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "kind", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "step", nullptr, 0, offsetof(StepPayload, step), nullptr,
         nullptr}};
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.name = conventions::kRangeSchema.data();
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries;
    attributes.numEntries = 2;
    attributes.payloadStaticSize = sizeof(StepPayload);
    return nvtxPayloadSchemaRegister(headway_domain(), &attributes);
  }();
  StepPayload payload;
  payload.step = number;
  nvtxPayloadData_t data{schema, sizeof payload, &payload};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "unit";
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
  nvtxDomainRangePushEx(headway_domain(), &event);
}

nvtxDomainHandle_t mine() {
  static nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  return domain;
}

void sample_progress(int number) {
  static const std::uint64_t counter = [] {
    nvtxCounterAttr_t attributes{};
    attributes.structSize = sizeof attributes;
    attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    attributes.name = "progress";
    attributes.scopeId = NVTX_SCOPE_CURRENT_VM;
    return nvtxCounterRegister(mine(), &attributes);
  }();
  nvtxCounterSampleInt64(mine(), counter, number);
}

nvtxRangeId_t start_profiled() {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "profiled";
  return nvtxDomainRangeStartEx(mine(), &event);
}

void range(const char* name, useconds_t us) {
  nvtxRangePushA(name);
  ::usleep(us);
  nvtxRangePop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int count = std::atoi(argv[1]);
  const auto step_us = static_cast<useconds_t>(std::atoi(argv[2]));
  const std::set<std::string> words(argv + 3, argv + argc);
  int first = -1;
  int last = -1;
  for (const std::string& word : words) std::sscanf(word.c_str(), "capture=%d:%d", &first, &last);
  pid_t worker = 0;
  if (words.contains("worker") && (worker = ::fork()) == 0) {
    for (;;) range("batch", 1'000);
  }
  std::atomic<bool> stop = false;
  std::thread other;
  if (words.contains("threads")) {
    other = std::thread([&] {
      while (!stop) range("other", 1'000);
    });
  }
  range("setup", 1'000);
  nvtxRangePushA("epoch");
  nvtxRangeId_t profiled = 0;
  for (int i = 0; i < count; ++i) {
    if (i == first) profiled = start_profiled();
    const std::string name = words.contains("numbered")  ? "step " + std::to_string(i)
                             : words.contains("unnamed") ? "unit"
                                                         : "step";
    const bool declared = words.contains("declared");
    if (declared) {
      push_declared(100 + i);
    } else {
      nvtxRangePushA(name.c_str());
    }
    if (words.contains("counter")) sample_progress(i);
    range("work", step_us);
    if (declared) {
      nvtxDomainRangePop(headway_domain());
    } else {
      nvtxRangePop();
    }
    if (i == last) nvtxRangeEnd(profiled);
  }
  nvtxRangePop();
  range("teardown", 1'000);
  stop = true;
  if (other.joinable()) other.join();
  if (worker > 0) {
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
  }
  return 9;
}
