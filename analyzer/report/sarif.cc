// SPDX-License-Identifier: MIT
#include "analyzer/report/sarif.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/text.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

/// A message in which nothing is a placeholder ({0}) or a link ([text](target)).
Json message(const std::string& text) {
  std::string out;
  for (char c : escape_terminal(text)) {
    if (c == '{' || c == '}') out += c;
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return {{"text", out}};
}

/// A path as a URI reference: every byte that a URI gives a meaning to is percent-encoded.
std::string uri_of(const std::string& path) {
  std::string out = std::filesystem::path(path).is_absolute() ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                 (byte >= '0' && byte <= '9') ||
                 std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

/// "input-bound" -> "InputBound": names are identifiers for people, ids the stable ones.
std::string rule_name(const std::string& id) {
  std::string out;
  bool upper = true;
  for (char c : id) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = !letter;
  }
  return out;
}

Json rule_json(const SarifRule& rule) {
  return {{"id", rule.id},
          {"name", rule_name(rule.id)},
          {"shortDescription", message(rule.title)},
          {"fullDescription", message(rule.text)},
          {"help", message(rule.text)},
          {"defaultConfiguration", {{"level", "warning"}}},
          {"properties", {{"tags", Json::array({"performance"})}}}};
}

Json location_json(const SarifResult& result) {
  Json physical = {{"artifactLocation", {{"uri", uri_of(result.file)}}}};
  if (result.line) physical["region"] = {{"startLine", result.line}};
  Json location = {{"physicalLocation", physical}};
  if (!result.events.empty()) {
    location["logicalLocations"] = Json::array();
    for (const std::string& event : result.events) {
      std::string name = escape_terminal(event);
      location["logicalLocations"].push_back({{"name", name}, {"kind", "function"}});
    }
  }
  return location;
}

Json result_json(const SarifResult& result, const std::vector<SarifRule>& rules) {
  using enum SarifResult::Kind;
  const char* kind = result.kind == kFail ? "fail" : result.kind == kPass ? "pass" : "open";
  Json json = {{"ruleId", rules.at(result.rule).id},
               {"ruleIndex", result.rule},
               {"kind", kind},
               // The standard asks for "none" whenever the kind is not "fail".
               {"level", result.kind == kFail ? result.level : std::string("none")},
               {"message", message(result.message)},
               {"locations", Json::array({location_json(result)})}};
  if (!result.properties.empty()) json["properties"] = result.properties;
  return json;
}

}  // namespace

std::string sarif_log(const std::string& tool_version, const std::vector<SarifRule>& rules,
                      const std::vector<SarifResult>& results,
                      const std::vector<std::string>& notifications) {
  Json driver = {{"name", "Headway"}, {"version", tool_version}, {"rules", Json::array()}};
  for (const SarifRule& rule : rules) driver["rules"].push_back(rule_json(rule));
  Json invocation = {{"executionSuccessful", true}};
  if (!notifications.empty()) {
    invocation["toolExecutionNotifications"] = Json::array();
    for (const std::string& text : notifications)
      invocation["toolExecutionNotifications"].push_back(
          {{"level", "warning"}, {"message", message(text)}});
  }
  Json run = {{"tool", {{"driver", driver}}},
              {"columnKind", "unicodeCodePoints"},
              {"invocations", Json::array({invocation})},
              {"results", Json::array()}};
  for (const SarifResult& result : results) run["results"].push_back(result_json(result, rules));
  Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({run})}};
  return log.dump(2) + "\n";
}

}  // namespace headway::analyzer
