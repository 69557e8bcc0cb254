// SPDX-License-Identifier: MIT
#include "analyzer/diff/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headway::analyzer {
namespace {

/// Settings that decide what is trained and on how much, not how efficiently.
constexpr std::array<std::string_view, 14> kProgram = {
    "model",  "depth",      "width", "layers",    "features", "heads",      "sequence",
    "window", "image_size", "data",  "optimizer", "batch",    "accumulate", "ranks"};

const trace::Device* device_of(const DiffRun& run) {
  if (!run.analysis.partitions.empty() && run.analysis.partitions.front().device.valid())
    return &run.trace.devices[run.analysis.partitions.front().device.value];
  return run.trace.devices.empty() ? nullptr : &run.trace.devices.front();
}

std::string device_name(const trace::Device* device) {
  if (!device) return "no device";
  return device->name.empty() ? fmt::format("device {}", device->ordinal) : device->name;
}

std::string count_text(double count) {
  return fmt::format("{:g}", count);
}

}  // namespace

std::vector<Difference> differences_of(const DiffRun& a, const DiffRun& b) {
  std::vector<Difference> out;
  auto add = [&](std::string_view what, std::string_view x, std::string_view y) {
    if (x != y) out.push_back({std::string(what), std::string(x), std::string(y)});
  };
  add("device", device_name(device_of(a)), device_name(device_of(b)));
  const std::int32_t ranks_a = a.trace.world_size;
  const std::int32_t ranks_b = b.trace.world_size;
  if (ranks_a != ranks_b) add("ranks", std::to_string(ranks_a), std::to_string(ranks_b));
  for (std::string_view key : kProgram) {
    if (key == "ranks" && ranks_a != ranks_b) continue;
    const std::string_view x = a.trace.setting(key);
    const std::string_view y = b.trace.setting(key);
    if (!x.empty() && !y.empty()) add(key, x, y);
  }
  // A batch size that no setting shows.
  const std::optional<double> samples_a = a.analysis.samples_per_step;
  const std::optional<double> samples_b = b.analysis.samples_per_step;
  const bool told = std::any_of(out.begin(), out.end(), [](const Difference& one) {
    return one.what == "batch" || one.what == "accumulate" || one.what == "ranks";
  });
  if (!told && samples_a && samples_b && *samples_a != *samples_b)
    add("samples per step", count_text(*samples_a), count_text(*samples_b));
  return out;
}

std::string to_text(const std::vector<Difference>& differences) {
  std::string out;
  for (const Difference& one : differences)
    out += fmt::format("{}{} {} → {}", out.empty() ? "" : ", ", one.what, one.a, one.b);
  return out;
}

bool same_device_type(const DiffRun& a, const DiffRun& b) {
  const trace::Device* x = device_of(a);
  const trace::Device* y = device_of(b);
  return (x == nullptr) == (y == nullptr) && (!x || x->type == y->type);
}

std::optional<CommonWork> common_work(const Table* ops) {
  if (!ops) return std::nullopt;
  // Columns of a cost table: name, A, B, …; a cell is empty where that side has nothing of it.
  CommonWork both;
  CommonWork all;
  for (const auto& row : ops->rows) {
    const auto* x = std::get_if<std::int64_t>(&row[1]);
    const auto* y = std::get_if<std::int64_t>(&row[2]);
    if (x) all.of_a += static_cast<double>(*x);
    if (y) all.of_b += static_cast<double>(*y);
    if (!x || !y) continue;
    both.of_a += static_cast<double>(*x);
    both.of_b += static_cast<double>(*y);
  }
  if (all.of_a <= 0 || all.of_b <= 0) return std::nullopt;
  return CommonWork{both.of_a / all.of_a, both.of_b / all.of_b};
}

}  // namespace headway::analyzer
