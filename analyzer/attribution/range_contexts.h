// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/steps/range_names.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a range and the ranges around it say together.
struct RangeContext {
  trace::RangeId op;  ///< the innermost range that names an op: the framework's operator or an
                      ///< NVTX range, else an annotation, else a Python function; may be none
  std::uint32_t module = 0;  ///< into the paths of ModulePaths; 0: unknown
  trace::Phase phase = trace::Phase::kNone;
  RangeSource op_source = RangeSource::kDevice;  ///< of `op`; kDevice when there is none
  bool input_wait = false;     ///< the thread waits for a batch: this range or one around it
  bool communication = false;  ///< it communicates between ranks: this range or one around it
};

/// Paths of modules, each once, built from nested "nn.Module" calls or read from NVTX names.
class ModulePaths {
 public:
  ModulePaths() { paths_.emplace_back(); }
  /// `name` inside the module `parent`.
  std::uint32_t child(std::uint32_t parent, trace::StringId name, std::string_view part);
  /// A path that stands by itself.
  std::uint32_t absolute(trace::StringId name, std::string_view path);
  const std::string& operator[](std::uint32_t path) const { return paths_[path]; }
  std::size_t size() const { return paths_.size(); }

 private:
  std::uint32_t add(std::uint64_t key, std::string path);
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::unordered_map<std::string, std::uint32_t> by_path_;
  std::vector<std::string> paths_;
};

/// One context per range, in one pass over the ranges: they are sorted by start, so the one around a
/// range comes before it, and the forward op of a backward op, too.
std::vector<RangeContext> range_contexts(const trace::Trace& trace, const RangeNames& names,
                                         ModulePaths& modules);

}  // namespace headway::analyzer
