// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "common/machine_figures.h"

namespace headway::analyzer {

/// A figure of one GPU model, with its source. For recordings that show it too seldom, on machines without
/// a calibration.
struct ModelFigure {
  std::string_view model;  ///< GpuModel::id
  MachineFigure figure;
  FigureValue value;
  std::string_view source;
};
std::span<const ModelFigure> model_figures();

/// Null when no source gives it.
const ModelFigure* find_model_figure(std::string_view model, MachineFigure figure);

}  // namespace headway::analyzer
