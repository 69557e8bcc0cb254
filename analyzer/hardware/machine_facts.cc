// SPDX-License-Identifier: MIT
#include "analyzer/hardware/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/hardware/model_figures.h"
#include "common/gpu_models.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {

namespace {

/// The measurement whose number of ranks has the ratio to `ranks` nearest to 1; of two, the smaller.
const MeasuredCollective* nearest(const std::vector<MeasuredCollective>& all,
                                  std::string_view backend, std::string_view kind, int ranks) {
  const MeasuredCollective* best = nullptr;
  auto distance = [&](const MeasuredCollective& one) {
    return std::fabs(std::log(static_cast<double>(one.ranks) / std::max(1, ranks)));
  };
  for (const MeasuredCollective& one : all)
    if (one.backend == backend && one.kind == kind &&
        (!best || distance(one) < distance(*best) ||
         (distance(one) == distance(*best) && one.ranks < best->ranks)))
      best = &one;
  return best;
}

}  // namespace

std::string_view origin_id(FactOrigin origin) {
  switch (origin) {
    case FactOrigin::kRecording:
      return "recording";
    case FactOrigin::kCalibration:
      return "calibration";
    case FactOrigin::kTable:
      return "table";
    case FactOrigin::kDefault:
      return "default";
  }
  return "";
}

const MeasuredDevice* MachineFacts::measured(const trace::Device& device) const {
  if (!calibration_ || device.name.empty()) return nullptr;
  auto found = std::ranges::find(calibration_->devices, device.name, &MeasuredDevice::name);
  return found == calibration_->devices.end() ? nullptr : &*found;
}

bool MachineFacts::is_host(const trace::Trace& trace) const {
  return calibration_ && !calibration_->host.processor.empty() &&
         trace.meta_value(trace::meta::kCpu) == calibration_->host.processor;
}

std::optional<MachineFact> MachineFacts::of(const trace::Device& device,
                                            MachineFigure figure) const {
  if (const MeasuredDevice* found = measured(device); found && found->figures[figure])
    return MachineFact{
        *found->figures[figure], FactOrigin::kCalibration,
        fmt::format("measured {} on {}", calibration_->measured.substr(0, 10), found->name)};
  const GpuModel* model = find_gpu(device.name, device.memory_bytes);
  const ModelFigure* row = model ? find_model_figure(model->id, figure) : nullptr;
  if (!row) return std::nullopt;
  return MachineFact{row->value, FactOrigin::kTable,
                     fmt::format("table, {}: {}", row->model, row->source)};
}

std::optional<MachineFact> MachineFacts::of_host(const trace::Trace& trace,
                                                 MachineFigure figure) const {
  if (!is_host(trace) || !calibration_->host.figures[figure]) return std::nullopt;
  return MachineFact{*calibration_->host.figures[figure], FactOrigin::kCalibration,
                     fmt::format("measured {} on {}", calibration_->measured.substr(0, 10),
                                 calibration_->host.processor)};
}

std::optional<CollectiveFact> MachineFacts::collective(const trace::Device& device,
                                                       std::string_view backend,
                                                       std::string_view kind, int ranks) const {
  const MeasuredDevice* found = measured(device);
  const MeasuredCollective* one =
      found ? nearest(found->collectives, backend, kind, ranks) : nullptr;
  if (!one) return std::nullopt;
  return CollectiveFact{
      *one, fmt::format("measured {} on {}", calibration_->measured.substr(0, 10), found->name)};
}

std::optional<CollectiveFact> MachineFacts::host_collective(const trace::Trace& trace,
                                                            std::string_view backend,
                                                            std::string_view kind,
                                                            int ranks) const {
  const MeasuredCollective* one =
      is_host(trace) ? nearest(calibration_->host.collectives, backend, kind, ranks) : nullptr;
  if (!one) return std::nullopt;
  return CollectiveFact{*one, fmt::format("measured {} on {}", calibration_->measured.substr(0, 10),
                                          calibration_->host.processor)};
}

bool MachineFacts::fits(const trace::Trace& trace) const {
  return is_host(trace) || std::ranges::any_of(trace.devices, [&](const trace::Device& device) {
           return measured(device) != nullptr;
         });
}

}  // namespace headway::analyzer
