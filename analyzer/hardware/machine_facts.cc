// SPDX-License-Identifier: MIT
#include "analyzer/hardware/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hardware/model_figures.h"
#include "common/gpu_models.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {

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

bool MachineFacts::fits(const trace::Trace& trace) const {
  return is_host(trace) || std::ranges::any_of(trace.devices, [&](const trace::Device& device) {
           return measured(device) != nullptr;
         });
}

}  // namespace headway::analyzer
