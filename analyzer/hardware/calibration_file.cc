// SPDX-License-Identifier: MIT
#include "analyzer/hardware/calibration_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/read_file.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "headway.calibration";
/// A hundred times what a machine of eight kinds of GPU needs.
constexpr std::size_t kMostBytes = 1 << 20;

Json figures_json(const FigureSet& figures, bool of_device) {
  Json json = Json::object();
  for (const MachineFigureInfo& one : machine_figures()) {
    const std::optional<FigureValue>& value = figures[one.figure];
    if (one.of_device != of_device || !value) continue;
    json[std::string(one.id)] = {{"unit", unit_name(one.unit)},
                                 {"p5", value->p5},
                                 {"p50", value->p50},
                                 {"p95", value->p95},
                                 {"samples", value->samples}};
  }
  return json;
}

Json collectives_json(const std::vector<MeasuredCollective>& collectives) {
  Json json = Json::array();
  for (const MeasuredCollective& one : collectives)
    json.push_back({{"backend", to_valid_utf8(one.backend)},
                    {"kind", to_valid_utf8(one.kind)},
                    {"ranks", one.ranks},
                    {"latency_ns", one.latency_ns},
                    {"bytes_per_s", one.bytes_per_s},
                    {"deviation", one.deviation},
                    {"least_bytes", one.least_bytes},
                    {"most_bytes", one.most_bytes},
                    {"samples", one.samples}});
  return json;
}

Json absent_json(const std::vector<AbsentFigure>& absent) {
  Json json = Json::object();
  for (const AbsentFigure& one : absent)
    json[std::string(info(one.figure).id)] = to_valid_utf8(one.why);
  return json;
}

/// Reads the parts of one file. Every error names the file and the place in it.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void refuse(const std::string& place, const std::string& what) const {
    fail_input("{}: {}: {}. Run `headway calibrate` again to rewrite it.", file_,
               shorten(escape_terminal(place), 100), what);
  }

  const Json& child(const Json& parent, const std::string& place, const char* key) const {
    auto found = parent.find(key);
    if (found == parent.end()) refuse(join(place, key), "expected, but missing");
    return *found;
  }
  const Json& object(const Json& parent, const std::string& place, const char* key) const {
    const Json& json = child(parent, place, key);
    if (!json.is_object()) refuse(join(place, key), "expected an object, found " + shown(json));
    return json;
  }
  std::string text(const Json& parent, const std::string& place, const char* key) const {
    const Json& json = child(parent, place, key);
    if (!json.is_string()) refuse(join(place, key), "expected a text, found " + shown(json));
    return json.get<std::string>();
  }
  std::int64_t count(const Json& parent, const std::string& place, const char* key) const {
    const Json& json = child(parent, place, key);
    if (!json.is_number_integer() || json.get<std::int64_t>() < 0)
      refuse(join(place, key), "expected a whole number from 0 on, found " + shown(json));
    return json.get<std::int64_t>();
  }
  double number(const Json& parent, const std::string& place, const char* key) const {
    const Json& json = child(parent, place, key);
    if (!json.is_number() || !std::isfinite(json.get<double>()) || json.get<double>() < 0)
      refuse(join(place, key), "expected a number from 0 on, found " + shown(json));
    return json.get<double>();
  }

  FigureSet figures(const Json& parent, const std::string& place, bool of_device) const {
    FigureSet figures;
    for (const auto& [id, json] : object(parent, place, "figures").items()) {
      const std::string where = join(place, "figures." + id);
      const MachineFigureInfo& one = figure(id, where, of_device);
      if (!json.is_object()) refuse(where, "expected an object, found " + shown(json));
      if (text(json, where, "unit") != unit_name(one.unit))
        refuse(where + ".unit", fmt::format("expected \"{}\"", unit_name(one.unit)));
      const FigureValue value{number(json, where, "p5"), number(json, where, "p50"),
                              number(json, where, "p95"), count(json, where, "samples")};
      if (value.p50 <= 0 || value.p5 > value.p50 || value.p50 > value.p95)
        refuse(where, "expected p5 <= p50 <= p95 and p50 over 0");
      if (value.samples < 1) refuse(where + ".samples", "expected at least 1");
      figures[one.figure] = value;
    }
    return figures;
  }
  std::vector<AbsentFigure> absent(const Json& parent, const std::string& place,
                                   bool of_device) const {
    std::vector<AbsentFigure> absent;
    const Json& all = object(parent, place, "absent");
    for (auto one = all.begin(); one != all.end(); ++one)
      absent.push_back({figure(one.key(), join(place, "absent." + one.key()), of_device).figure,
                        text(all, join(place, "absent"), one.key().c_str())});
    return absent;
  }

  /// Empty for older files, which have none.
  std::vector<MeasuredCollective> collectives(const Json& parent, const std::string& place) const {
    std::vector<MeasuredCollective> collectives;
    if (!parent.contains("collectives")) return collectives;
    const Json& all = parent["collectives"];
    if (!all.is_array()) refuse(join(place, "collectives"), "expected a list, found " + shown(all));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = join(place, fmt::format("collectives[{}]", i));
      const Json& json = all[i];
      if (!json.is_object()) refuse(where, "expected an object, found " + shown(json));
      MeasuredCollective& one = collectives.emplace_back();
      one.backend = text(json, where, "backend");
      one.kind = text(json, where, "kind");
      const std::int64_t ranks = count(json, where, "ranks");
      if (ranks < 2 || ranks > 1 << 20) refuse(where + ".ranks", "expected 2 to 1048576");
      one.ranks = static_cast<std::int32_t>(ranks);
      one.latency_ns = number(json, where, "latency_ns");
      one.bytes_per_s = number(json, where, "bytes_per_s");
      if (one.bytes_per_s <= 0) refuse(where + ".bytes_per_s", "expected a number over 0");
      one.deviation = number(json, where, "deviation");
      one.least_bytes = count(json, where, "least_bytes");
      one.most_bytes = count(json, where, "most_bytes");
      one.samples = count(json, where, "samples");
    }
    return collectives;
  }

 private:
  static std::string join(const std::string& place, const std::string& key) {
    return place.empty() ? key : place + "." + key;
  }
  static std::string shown(const Json& json) {
    return shorten(escape_terminal(json.dump(-1, ' ', false, Json::error_handler_t::replace)), 40);
  }
  const MachineFigureInfo& figure(const std::string& id, const std::string& place,
                                  bool of_device) const {
    std::string known;
    for (const MachineFigureInfo& one : machine_figures()) {
      if (one.of_device != of_device) continue;
      if (one.id == id) return one;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", one.id);
    }
    refuse(place, "no such figure (known: " + known + ")");
  }

  std::string file_;
};

Json parse(const std::filesystem::path& file, const std::string& name) {
  const std::string text =
      read_file(file, kMostBytes, fmt::format("`headway calibrate -o {}` writes it.", name));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& bad) {
    fail_input(
        "{}: byte {} of {}: not JSON, or cut off; expected output of `headway calibrate`. Run it "
        "again to rewrite the file.",
        name, bad.byte, text.size());
  } catch (const Json::exception&) {  // 1e400
    fail_input(
        "{}: contains a number out of range; expected output of `headway calibrate`. Run it again "
        "to rewrite the file.",
        name);
  }
}

}  // namespace

std::string to_json(const MachineCalibration& calibration) {
  const MeasuredHost& host = calibration.host;
  Json json{{"schema", kSchema},
            {"version", kCalibrationVersion},
            {"measured", calibration.measured},
            {"headway_version", calibration.tool_version}};
  json["host"] = {
      {"name", to_valid_utf8(host.name)},     {"processor", to_valid_utf8(host.processor)},
      {"system", to_valid_utf8(host.system)}, {"processors", host.processors},
      {"memory_bytes", host.memory_bytes},    {"figures", figures_json(host.figures, false)},
      {"absent", absent_json(host.absent)}};
  if (!host.collectives.empty()) json["host"]["collectives"] = collectives_json(host.collectives);
  json["devices"] = Json::array();
  for (const MeasuredDevice& device : calibration.devices) {
    Json& one = json["devices"].emplace_back();
    one = {{"name", to_valid_utf8(device.name)},
           {"driver", device.driver},
           {"memory_bytes", device.memory_bytes},
           {"figures", figures_json(device.figures, true)},
           {"absent", absent_json(device.absent)}};
    if (!device.collectives.empty()) one["collectives"] = collectives_json(device.collectives);
  }
  return json.dump(2) + "\n";
}

MachineCalibration read_calibration(const std::filesystem::path& file) {
  const std::string name = file.string();
  const Json json = parse(file, name);
  const Reader reader(name);
  if (!json.is_object() || json.value("schema", Json()) != kSchema)
    reader.refuse("schema",
                  fmt::format("expected \"{}\": this is not a calibration file", kSchema));
  if (const std::int64_t version = reader.count(json, "", "version"); version > kCalibrationVersion)
    fail_input(
        "{}: version {}: written by a newer Headway; this one reads up to {}. Update it, or run "
        "this version's `headway calibrate`.",
        name, version, kCalibrationVersion);
  MachineCalibration result;
  result.measured = reader.text(json, "", "measured");
  result.tool_version = reader.text(json, "", "headway_version");
  const Json& host = reader.object(json, "", "host");
  result.host.name = reader.text(host, "host", "name");
  result.host.processor = reader.text(host, "host", "processor");
  result.host.system = reader.text(host, "host", "system");
  result.host.processors = static_cast<std::int32_t>(reader.count(host, "host", "processors"));
  result.host.memory_bytes = reader.count(host, "host", "memory_bytes");
  result.host.figures = reader.figures(host, "host", false);
  result.host.absent = reader.absent(host, "host", false);
  result.host.collectives = reader.collectives(host, "host");
  const Json& devices = reader.child(json, "", "devices");
  if (!devices.is_array()) reader.refuse("devices", "expected a list");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string place = fmt::format("devices[{}]", i);
    if (!devices[i].is_object()) reader.refuse(place, "expected an object");
    MeasuredDevice& device = result.devices.emplace_back();
    device.name = reader.text(devices[i], place, "name");
    device.driver = reader.text(devices[i], place, "driver");
    device.memory_bytes = reader.count(devices[i], place, "memory_bytes");
    device.figures = reader.figures(devices[i], place, true);
    device.absent = reader.absent(devices[i], place, true);
    device.collectives = reader.collectives(devices[i], place);
  }
  return result;
}

std::filesystem::path default_calibration_file() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value ? value : "");
  };
  // By the XDG specification, a relative path there is ignored.
  std::filesystem::path folder = variable("XDG_CONFIG_HOME");
  if (!folder.is_absolute()) {
    folder = variable("HOME");
    if (!folder.is_absolute()) return {};
    folder /= ".config";
  }
  return folder / "headway" / "calibration.json";
}

}  // namespace headway::analyzer
