// SPDX-License-Identifier: MIT
#include "analyzer/report/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Text of an element: as an attribute, but line breaks stay.
std::string escape_lines(const std::string& text) {
  std::string out;
  for (std::size_t from = 0; from <= text.size();) {
    std::size_t end = std::min(text.find('\n', from), text.size());
    out += escape_html(std::string_view(text).substr(from, end - from));
    if (end < text.size()) out += '\n';
    from = end + 1;
  }
  return out;
}

std::string case_xml(const JunitCase& test) {
  std::string open = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"",
                                 escape_html(test.classname), escape_html(test.name));
  std::string message = escape_html(test.message);
  switch (test.outcome) {
    case JunitCase::Outcome::kPassed:
      if (test.message.empty()) return open + "/>\n";
      return open + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                                escape_lines(test.message));
    case JunitCase::Outcome::kFailed:
      return open + fmt::format(
                        ">\n      <failure type=\"headway\" message=\"{}\">{}</failure>\n    "
                        "</testcase>\n",
                        message, escape_lines(test.details.empty() ? test.message : test.details));
    case JunitCase::Outcome::kSkipped:
      return open + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", message);
  }
  return "";
}

}  // namespace

std::string junit_xml(const std::string& suite,
                      const std::vector<std::pair<std::string, std::string>>& properties,
                      const std::vector<JunitCase>& cases) {
  auto count = [&](JunitCase::Outcome outcome) {
    return std::count_if(cases.begin(), cases.end(),
                         [&](const JunitCase& test) { return test.outcome == outcome; });
  };
  std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\"", cases.size(),
      count(JunitCase::Outcome::kFailed), count(JunitCase::Outcome::kSkipped));
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"headway\" {}>\n  <testsuite "
      "name=\"{}\" {}>\n    <properties>\n",
      counts, escape_html(suite), counts);
  for (const auto& [name, value] : properties)
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escape_html(name),
                       escape_html(value));
  out += "    </properties>\n";
  for (const JunitCase& test : cases) out += case_xml(test);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace headway::analyzer
