// SPDX-License-Identifier: MIT
// Text to statements: words, quotes, attributes, indentation.
#include <fmt/format.h>

#include <utility>

#include "tests/planted/dsl/statement.h"

namespace headway::planted {
namespace {

struct Word {
  std::string text;
  std::size_t equals = std::string::npos;  ///< of an attribute; outside quotes
};

/// The words of a line; a '#' that begins a word outside quotes begins a comment.
std::vector<Word> words_of(std::string_view line, const Statement& where) {
  std::vector<Word> words;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ') {
      ++i;
      continue;
    }
    if (line[i] == '#') break;
    if (line[i] == '\t') where.fail("tabs are not used here; indent with spaces");
    Word word;
    bool quoted = false;
    for (; i < line.size() && (quoted || line[i] != ' '); ++i) {
      if (line[i] == '"') {
        quoted = !quoted;
      } else {
        if (line[i] == '=' && !quoted && word.equals == std::string::npos)
          word.equals = word.text.size();
        word.text += line[i];
      }
    }
    if (quoted) where.fail("a quote is not closed on its line");
    words.push_back(std::move(word));
  }
  return words;
}

bool is_attribute_of(const Keyword& keyword, std::string_view name) {
  std::string_view rest = keyword.attributes;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(' '));
    if (item == name) return true;
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  return false;
}

Statement make_statement(const std::string& file, int line, std::string_view text) {
  Statement statement;
  statement.file = &file;
  statement.line = line;
  std::vector<Word> words = words_of(text, statement);
  if (words.empty()) return statement;
  statement.keyword = words.front().text;
  const Keyword* keyword = find_keyword(statement.keyword);
  if (!keyword) {
    statement.fail(
        fmt::format("'{}' is no statement; tests/planted/README.md lists them", statement.keyword));
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Word& word = words[i];
    std::string name = word.text.substr(0, word.equals);
    bool room = statement.arguments.size() < keyword->max_arguments;
    bool attribute = is_attribute_of(*keyword, name);
    if (attribute && (word.equals != std::string::npos || !room)) {
      statement.attributes[name] =
          word.equals == std::string::npos ? "" : word.text.substr(word.equals + 1);
    } else if (room && (word.equals == std::string::npos || keyword->max_arguments > 3)) {
      statement.arguments.push_back(word.text);
    } else {
      statement.fail(fmt::format("'{}' does not know '{}'; expected {}{}", keyword->name, name,
                                 keyword->arguments.empty() ? "no arguments" : keyword->arguments,
                                 keyword->attributes.empty()
                                     ? std::string()
                                     : fmt::format(", then {}", keyword->attributes)));
    }
  }
  if (statement.arguments.size() < keyword->min_arguments)
    statement.fail(fmt::format("'{}' needs {}", keyword->name, keyword->arguments));
  return statement;
}

}  // namespace

std::vector<Statement> parse_statements(const std::string& file, std::string_view text) {
  std::vector<Statement> roots;
  std::vector<std::pair<std::size_t, std::vector<Statement>*>> open = {{0, &roots}};
  int line = 0;
  while (!text.empty()) {
    std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    ++line;
    while (row.ends_with(' ') || row.ends_with('\r')) row.remove_suffix(1);
    Statement statement = make_statement(file, line, row);
    if (statement.keyword.empty()) continue;
    std::size_t indent = row.find_first_not_of(' ');
    if (indent > open.back().first) {
      std::vector<Statement>& siblings = *open.back().second;
      if (siblings.empty()) statement.fail("is indented but stands under nothing");
      Statement& parent = siblings.back();
      if (!find_keyword(parent.keyword)->has_body)
        statement.fail(fmt::format("is indented under '{}', which has no body", parent.keyword));
      open.emplace_back(indent, &parent.body);
    }
    while (indent < open.back().first) open.pop_back();
    if (indent != open.back().first)
      statement.fail("its indentation matches no statement above it");
    open.back().second->push_back(std::move(statement));
  }
  return roots;
}

}  // namespace headway::planted
