// SPDX-License-Identifier: MIT
// Any bytes as a profile of JAX or TensorFlow: a Trace that holds together, or Error(kBadInput).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "tests/fuzz/target.h"
#include "trace/import/xplane/xplane.h"

namespace {

using namespace headway::trace;

class MemorySource : public import_detail::Source {
 public:
  MemorySource(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t read(char* to, std::size_t size) override {
    size = std::min(size, size_ - at_);
    if (size) std::memcpy(to, data_ + at_, size);
    at_ += size;
    return size;
  }
  double fraction() const override { return 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

void check(const Trace& trace) {
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    RangeId parent = trace.ranges.parent[i];
    bool holds =
        trace.ranges.thread[i].value < trace.threads.size() &&
        trace.ranges.domain[i].value < trace.domains.size() &&
        trace.ranges.start[i] <= trace.ranges.end[i] && (!parent.valid() || parent.value < i) &&
        (!trace.ranges.info[i].valid() || trace.ranges.info[i].value < trace.range_info.size());
    if (!holds) std::abort();
  }
  for (std::size_t i = 0; i < trace.device_ops.size(); ++i) {
    CallId call = trace.device_ops.call[i];
    bool holds = trace.device_ops.stream[i].value < trace.streams.size() &&
                 trace.device_ops.start[i] <= trace.device_ops.end[i] &&
                 (!call.valid() || call.value < trace.calls.size()) &&
                 trace.device_ops.op[i] < static_cast<std::int64_t>(trace.graph_ops.size());
    if (!holds) std::abort();
  }
  for (const Collective& collective : trace.collectives) {
    if (collective.op.value >= trace.device_ops.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(import_detail::load_xplane([&] { return std::make_unique<MemorySource>(data, size); },
                                     "fuzz", {.threads = 1}));
    ++headway::test::accepted;
  } catch (const headway::Error& error) {
    if (error.code() != headway::ExitCode::kBadInput) std::abort();
  }
  return 0;
}
