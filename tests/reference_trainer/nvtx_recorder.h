// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace headway::test {

/// One range or mark of the NVTX domain "headway", as a tool sees it.
struct NvtxEvent {
  std::string name;
  std::string schema;  ///< "headway.range"
  std::vector<std::byte> payload;
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< = start for marks; 0 while open
  int depth = 0;            ///< ranges open around it on its thread
  bool mark = false;

  template <class Payload>
  Payload as() const {
    Payload result{};
    std::memcpy(&result, payload.data(), std::min(payload.size(), sizeof result));
    return result;
  }
};

/// A tool built into the program (NVTX's static injection). Link it and everything the program says
/// between `start` and `stop` is kept. Thread safe. It takes the place of a collector, which the
/// trainer must not know.
class NvtxRecorder {
 public:
  static void start();
  /// Stops and returns what was recorded, in order of start per thread; ranges still open have end
  /// 0.
  static std::vector<NvtxEvent> stop();
  /// Pops without a push, over the whole life of the program.
  static int unbalanced_pops();
  /// Fields of a registered schema: name -> offset.
  static std::map<std::string, std::size_t> fields(const std::string& schema);
  /// Names given to threads, by thread id.
  static std::map<std::int64_t, std::string> thread_names();
};

}  // namespace headway::test
