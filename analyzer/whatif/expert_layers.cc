// SPDX-License-Identifier: MIT
#include "analyzer/whatif/expert_layers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/evidence/expert_regions.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// (begin, number) of the steps of a process, by time.
using StepBegins = std::vector<std::pair<TimeNs, std::int64_t>>;

std::vector<StepBegins> steps_of_processes(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::vector<StepBegins> steps(trace.processes.size());
  for (const Step& step : predictor.analysis().steps.all)
    steps[trace.threads[step.thread.value].process.value].emplace_back(step.host.begin,
                                                                       step.number);
  for (StepBegins& its : steps) std::ranges::sort(its);
  return steps;
}

class Layers {
 public:
  explicit Layers(const Predictor& predictor)
      : predictor_(predictor),
        trace_(predictor.trace()),
        all_(collectives_of(trace_, predictor.analysis().steps, predictor.analysis().attribution)) {
  }

  std::vector<std::vector<ExpertPart>> run() {
    const std::vector<StepBegins> steps = steps_of_processes(predictor_);
    std::map<std::uint32_t, std::vector<std::uint32_t>> rows;  // by process
    for (std::uint32_t i = 0; i < all_.rows.size(); ++i) {
      RankCollective& row = all_.rows[i];
      if (row.on_host) continue;
      const std::uint32_t process = process_of(DeviceOpId{row.op}).value;
      if (trace_.processes[process].rank < 0) continue;
      // Each process has steps of its own.
      const StepBegins& its = steps[process];
      const auto after = std::ranges::upper_bound(its, std::pair(row.launch, INT64_MAX));
      row.step = after == its.begin() ? -1 : (after - 1)->second;
      rows[process].push_back(i);
    }
    std::map<std::pair<std::int64_t, std::size_t>, std::vector<ExpertPart>> layers;
    for (const auto& [process, its] : rows)
      for (const auto& [step, regions] : expert_regions(all_, its))
        for (std::size_t place = 0; place < regions.size(); ++place)
          layers[{step, place}].push_back(part_of(regions[place]));
    std::vector<std::vector<ExpertPart>> result;
    for (auto& [place, parts] : layers)
      if (parts.size() > 1 && parts.size() == rows.size()) result.push_back(std::move(parts));
    return result;
  }

 private:
  ProcessId process_of(DeviceOpId op) const {
    return trace_.streams[trace_.device_ops.stream[op.value].value].process;
  }

  ExpertPart part_of(const ExpertRegion& region) const {
    const DeviceOps& ops = trace_.device_ops;
    ExpertPart part{
        DeviceOpId{all_.rows[region.brings].op}, DeviceOpId{all_.rows[region.takes].op}, {}, {}};
    const ProcessId process = process_of(part.brings);
    const TimeNs begin = ops.end[part.brings.value];
    const TimeNs end = ops.start[part.takes.value];
    const auto first = std::ranges::lower_bound(ops.start, begin) - ops.start.begin();
    for (auto i = static_cast<std::uint32_t>(first); i < ops.size() && ops.start[i] < end; ++i) {
      const DeviceOpId op{i};
      const TimeClass is = predictor_.analysis().attribution.class_of[i];
      if (ops.end[i] > end || ops.kind[i] != DeviceOpKind::kKernel || process_of(op) != process ||
          info(is).group != TimeGroup::kCompute)
        continue;
      part.kernels.push_back(op);
      part.time += ops.interval(op).length();
    }
    return part;
  }

  const Predictor& predictor_;
  const Trace& trace_;
  Collectives all_;
};

}  // namespace

std::vector<std::vector<ExpertPart>> expert_layers(const Predictor& predictor) {
  return Layers(predictor).run();
}

}  // namespace headway::analyzer
