// SPDX-License-Identifier: MIT
// In place of cupti_library.cc when Headway is built with HEADWAY_CUDA=OFF.
#include "collector/inject/cupti.h"

namespace headway::inject {
namespace {

class CuptiAbsent final : public Cupti {
 public:
  const char* open() override { return "this Headway was built without CUDA (HEADWAY_CUDA=OFF)"; }
  std::uint32_t version() override { return 0; }
  int subscribe() override { return -1; }
  void unsubscribe() override {}
  const char* result_text(int) override { return nullptr; }
};

constinit CuptiAbsent g_absent{};

}  // namespace

Cupti& installed_cupti() {
  return g_absent;
}

}  // namespace headway::inject
