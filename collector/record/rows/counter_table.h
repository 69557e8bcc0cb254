// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "collector/record/rows/trace_sink.h"

namespace headway::record {

/// The counter series of the trace, from all samplers: one per name, process and device. One
/// thread.
class CounterTable {
 public:
  explicit CounterTable(TraceSink& sink) : sink_(sink) {}

  struct Series {
    std::string_view name;  ///< by which rules find the series, "gpu.power"
    std::string_view unit;
    std::string_view description;
    std::int64_t global_pid = 0;         ///< 0: the machine
    std::optional<std::int64_t> device;  ///< nullopt: not about a device
  };
  void add(const Series& series, std::int64_t time_ns, double value) {
    add(number(series), time_ns, value);
  }
  /// The number of a series; a new series is added to the trace.
  std::int64_t number(const Series& series);
  /// Adds a sample of the series with that number; times in ns of the trace.
  void add(std::int64_t number, std::int64_t time_ns, double value);

 private:
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      // clang 14 cannot compare a tuple of a string with one of a view.
      auto key = [](const auto& of) {
        return std::tuple(of.global_pid, of.device, std::string_view(of.name));
      };
      return key(a) < key(b);
    }
  };
  struct Key {
    std::string name;
    std::int64_t global_pid;
    std::optional<std::int64_t> device;
  };
  struct View {
    std::string_view name;
    std::int64_t global_pid;
    std::optional<std::int64_t> device;
  };
  TraceSink& sink_;
  std::map<Key, std::int64_t, Less> numbers_;  ///< of the series in the trace
};

}  // namespace headway::record
