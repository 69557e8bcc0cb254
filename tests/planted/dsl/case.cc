// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/case.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "common/error.h"

namespace headway::planted {
namespace {

/// Takes the statement into the head of the case; false when it belongs to the run.
bool take_header(Case& c, const Statement& s) {
  auto append = [&](std::vector<std::string>& list) {
    for (const std::string& rule : s.arguments) {
      if (rule != "nothing") list.push_back(rule);
    }
  };
  if (s.keyword == "plants:") {
    for (const std::string& word : s.arguments) c.plants += (c.plants.empty() ? "" : " ") + word;
  } else if (s.keyword == "expect:") {
    append(c.expect);
  } else if (s.keyword == "allow:") {
    append(c.allow);
  } else if (s.keyword == "cannot-tell:") {
    append(c.cannot_tell);
  } else if (s.keyword == "first:") {
    c.first = s.arguments.front();
  } else if (s.keyword == "seed") {
    c.seed = static_cast<std::uint64_t>(s.integer_argument(0));
  } else if (s.keyword == "jitter") {
    Statement as_attribute = s;
    as_attribute.attributes["jitter"] = s.arguments.front();
    c.jitter = as_attribute.share("jitter", 0);
  } else if (s.keyword == "ranks") {
    c.ranks = static_cast<int>(s.integer_argument(0));
    if (c.ranks < 1 || c.ranks > 64) s.fail("expected 1 to 64 ranks");
  } else if (s.keyword == "world") {
    c.world = static_cast<int>(s.integer_argument(0));
  } else {
    return false;
  }
  return true;
}

}  // namespace

Case parse_case(const std::string& file, std::string_view text) {
  Case c;
  c.file = std::make_shared<const std::string>(file);
  bool says_expectation = false;
  bool has_program = false;
  for (Statement& statement : parse_statements(*c.file, text)) {
    says_expectation = says_expectation || statement.keyword == "expect:";
    has_program = has_program || statement.keyword == "thread";
    if (!take_header(c, statement)) c.statements.push_back(std::move(statement));
  }
  if (c.plants.empty()) fail_input("{}: lacks 'plants: …', what the case plants", file);
  if (!says_expectation) fail_input("{}: lacks 'expect: RULE …' (or 'expect: nothing')", file);
  if (!has_program) fail_input("{}: has no 'thread' with a program", file);
  return c;
}

Case read_case(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) fail_input("{}: cannot be read", path.string());
  return parse_case(path.string(), text.str());
}

}  // namespace headway::planted
