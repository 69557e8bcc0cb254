// SPDX-License-Identifier: MIT
#include "reference_trainer/app/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kSchemaVersion = 1;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json steps_json(const RunResult& result) {
  Json steps = Json::array();
  for (const StepRecord& step : result.steps)
    steps.push_back({{"step", step.step},
                     {"start_s", step.start_s},
                     {"duration_s", step.duration_s},
                     {"input_wait_s", step.input_wait_s},
                     {"device_end_s", or_null(step.device_end_s)},
                     {"loss", or_null(step.loss)},
                     {"accuracy", or_null(step.accuracy)}});
  return steps;
}

[[noreturn]] void fail_write(const std::filesystem::path& path, int code) {
  fail_input("{}: cannot write the metrics: {}.", escape_terminal(path.string()),
             system_error_text(code));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

void check_metrics_path(const std::filesystem::path& path) {
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) fail_write(path, errno);
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    fail_write(path, EISDIR);
}

void write_metrics(const std::filesystem::path& path, const EffectiveSettings& settings,
                   const RunResult& result) {
  Json values;
  for (const Switch& one : all_switches())
    values[std::string(one.name)] = one.get(settings.values());
  Json root = {{"schema_version", kSchemaVersion},
               {"preset", settings.preset()},
               {"settings", std::move(values)},
               {"parameters", result.parameters},
               {"interrupted", result.interrupted},
               {"warm_up_steps", result.warm_up_steps()},
               {"cold_steps", result.cold_steps},
               {"images_per_s", result.images_per_second()},
               {"median_step_s", result.median_step_s()},
               {"mean_step_s", result.mean_step_s()},
               {"input_wait_share", result.input_wait_share()},
               {"final_loss", or_null(result.final_loss())},
               {"final_accuracy", or_null(result.final_accuracy())}};
  root["evaluation"] = nullptr;
  if (result.evaluation)
    root["evaluation"] = {{"images", result.evaluation->images},
                          {"loss", result.evaluation->loss},
                          {"accuracy", result.evaluation->accuracy}};
  root["plain_evaluation"] = nullptr;
  if (result.plain_evaluation)
    root["plain_evaluation"] = {{"images", result.plain_evaluation->images},
                                {"loss", result.plain_evaluation->loss},
                                {"accuracy", result.plain_evaluation->accuracy}};
  if (!result.tokens.empty()) root["tokens"] = result.tokens;
  root["steps"] = steps_json(result);
  const std::filesystem::path partial = path.string() + fmt::format(".{}.partial", getpid());
  {
    std::ofstream file(partial);
    file << root.dump(1) << '\n';
    file.close();
    if (!file) {
      const int code = errno;
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
      fail_write(path, code);
    }
  }
  std::error_code code;
  std::filesystem::rename(partial, path, code);
  if (code) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    fail_write(path, code.value());
  }
}

}  // namespace headway::trainer
