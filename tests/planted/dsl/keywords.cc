// SPDX-License-Identifier: MIT
// The vocabulary of case files, once.
#include <array>

#include "tests/planted/dsl/statement.h"

namespace headway::planted {
namespace {

constexpr std::size_t kMany = 99;
// Attributes of everything that enqueues work.
#define HEADWAY_WORK \
  "stream call latency api blocks threads bytes flops op batch phase math jitter overhead"

constexpr auto kKeywords = std::to_array<Keyword>({
    // the case
    {"plants:", "TEXT …", 1, kMany, "", false},
    {"expect:", "RULE … | nothing", 1, kMany, "", false},
    {"allow:", "RULE …", 1, kMany, "", false},
    {"cannot-tell:", "RULE …", 1, kMany, "", false},
    {"first:", "RULE", 1, 1, "", false},
    {"seed", "NUMBER", 1, 1, "", false},
    {"jitter", "PERCENT", 1, 1, "", false},
    {"ranks", "NUMBER", 1, 1, "", false},
    {"world", "NUMBER", 1, 1, "", false},
    // the machine and the run
    {"device", "cuda|host|simulated NAME", 2, 2,
     "sms cores cc memory bandwidth clock latency gap queue", false},
    {"stream", "NAME", 1, 1, "device ordinal", false},
    {"setting", "NAME VALUE", 2, 2, "", false},
    {"meta", "KEY VALUE", 2, 2, "", false},
    {"counter", "NAME VALUE|LOW..HIGH", 2, 2, "unit every from to device process rank", false},
    {"op", "ID TYPE NAME", 3, 3, "phase forward inputs bytes flops output shape", false},
    // programs
    {"define", "NAME", 1, 1, "", true},
    {"loader", "WORKERS", 1, 1, "prefetch processes hidden startup start cores handover", true},
    {"thread", "NAME", 1, 1, "start tid", true},
    // inside programs
    {"use", "NAME", 1, 1, "", false},
    {"steps", "NUMBER", 1, 1, "name named unmarked", true},
    {"repeat", "NUMBER", 1, 1, "", true},
    {"on", "", 0, 0, "step every offset rank from to", true},
    {"as", "THREAD", 1, 1, "", true},
    {"range", "NAME", 1, 1, "kind phase op batch step bytes flops sequence shapes dtypes domain",
     true},
    {"mark", "NAME", 1, 1, "domain", false},
    {"host", "DURATION", 1, 1, "jitter", false},
    {"input", "", 0, 0, "name undeclared unmarked call", false},
    {"launch", "NAME DURATION", 2, 2, HEADWAY_WORK, false},
    {"graph", "", 0, 0, "stream call latency api", true},
    {"copy", "h2d|d2h|d2d|p2p|h2h BYTES", 2, 2, HEADWAY_WORK " rate time memory blocking wake name",
     false},
    {"memset", "BYTES", 1, 1, HEADWAY_WORK " time", false},
    {"record", "EVENT", 1, 1, "stream call", false},
    {"await", "EVENT", 1, 1, "stream call", false},
    {"sync", "stream|device|event [NAME]", 1, 2, "call wake api", false},
    {"call", "NAME DURATION", 2, 2, "launches jitter", false},
    {"allocate", "DURATION", 1, 1, "bytes api jitter", false},
    {"free", "DURATION", 1, 1, "bytes api jitter drains", false},
    {"collective", "KIND BYTES DURATION", 3, 3,
     "stream call latency api communicator ranks peer dtype name unseen wait jitter blocks phase",
     false},
    {"overhead", "module-load|profiler|queue-full|allocation|other DURATION", 2, 2, "name jitter",
     false},
    // inside loaders
    {"read", "DURATION", 1, 1, "bytes pieces jitter", false},
    {"decode", "DURATION", 1, 1, "bytes jitter", false},
    {"augment", "DURATION", 1, 1, "bytes jitter", false},
    {"collate", "DURATION", 1, 1, "bytes jitter", false},
});
#undef HEADWAY_WORK

}  // namespace

const Keyword* find_keyword(std::string_view name) {
  for (const Keyword& keyword : kKeywords) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

}  // namespace headway::planted
