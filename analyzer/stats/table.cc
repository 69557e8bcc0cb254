// SPDX-License-Identifier: MIT
#include "analyzer/stats/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/csv.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

bool is_text(const Column& column) {
  return column.kind == ColumnKind::kText;
}

std::string pad(const std::string& text, std::size_t width, bool left) {
  std::size_t columns = count_columns(text);
  std::string spaces(columns < width ? width - columns : 0, ' ');
  return left ? text + spaces : spaces + text;
}

constexpr std::size_t kGap = 2;  // between columns
/// Narrows text columns, the widest first, until the table fits `width`. Returns how many columns,
/// from the left, fit when that is not enough.
std::size_t fit(const Table& table, std::vector<std::size_t>& widths, std::size_t width,
                std::size_t indent) {
  // Shorter names could not be told apart; the first column names the row. Sentences take several
  // lines, and should not take many.
  auto narrowest = [&](std::size_t c) -> std::size_t {
    return c == 0 ? 28 : c + 1 == widths.size() ? 24 : 12;
  };
  std::size_t total = indent;
  for (std::size_t c = 0; c < widths.size(); ++c) total += widths[c] + (c ? kGap : 0);
  while (total > width) {
    std::size_t widest = SIZE_MAX;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (is_text(table.columns[c]) && widths[c] > narrowest(c) &&
          (widest == SIZE_MAX || widths[c] > widths[widest]))
        widest = c;
    }
    if (widest == SIZE_MAX) break;
    std::size_t wanted = widths[widest] - std::min(widths[widest], total - width);
    std::size_t narrower = std::max(narrowest(widest), wanted);
    total -= widths[widest] - narrower;
    widths[widest] = narrower;
  }
  constexpr std::size_t kAlwaysKept = 2;
  std::size_t kept = widths.size();
  while (total > width && kept > kAlwaysKept) total -= widths[--kept] + kGap;
  return kept;
}

/// `text` in lines of at most `width` columns, broken between words; a word that is longer is shortened.
std::vector<std::string> in_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = shorten(std::string(text.substr(begin, end - begin)), width);
    begin = end + 1;
    std::string& last = lines.back();
    if (last.empty()) {
      last = word;
    } else if (count_columns(last) + 1 + count_columns(word) <= width) {
      last += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string format_rate(double value, std::string_view unit) {
  static constexpr std::array<std::pair<double, const char*>, 5> kScales = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  for (const auto& [scale, prefix] : kScales) {
    if (value >= scale || scale == 1)
      return fmt::format("{:.3g} {}{}/s", value / scale, prefix, unit);
  }
  return "";
}

}  // namespace

namespace {

/// What people see: the first rows, and the columns in which they hold anything.
Table only_used(const Table& table, std::size_t max_rows) {
  std::size_t shown = std::min(max_rows, table.rows.size());
  Table used{table.id, table.title, table.note, {}, {}};
  used.rows.resize(shown);
  auto holds_something = [](const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return text ? !text->empty() : !std::holds_alternative<std::monostate>(cell);
  };
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool any = shown == 0;
    for (std::size_t r = 0; r < shown && !any; ++r) any = holds_something(table.rows[r][c]);
    if (!any) continue;
    used.columns.push_back(table.columns[c]);
    for (std::size_t r = 0; r < shown; ++r) used.rows[r].push_back(table.rows[r][c]);
  }
  return used;
}

}  // namespace

std::string display(const Column& column, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    switch (column.kind) {
      case ColumnKind::kDuration:
        return format_duration({*integer});
      case ColumnKind::kTime:
        return fmt::format("{:.6f} s", static_cast<double>(*integer) * 1e-9);
      case ColumnKind::kBytes:
        return format_bytes(*integer);
      case ColumnKind::kRaw:
      case ColumnKind::kText:
        return fmt::format("{}", *integer);
      default:
        return format_count(*integer);
    }
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    switch (column.kind) {
      case ColumnKind::kPercent:
        return format_percent(*number);
      case ColumnKind::kByteRate:
        return format_rate(*number, "B");
      case ColumnKind::kFlopRate:
        return format_rate(*number, "FLOP");
      case ColumnKind::kRaw:
      case ColumnKind::kText:
        return fmt::format("{}", *number);
      default:
        return fmt::format("{:.2f}", *number);
    }
  }
  return "";
}

void sort_by(Table& table, std::size_t column) {
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return std::get<std::int64_t>(a[column]) > std::get<std::int64_t>(b[column]);
  });
}

std::string to_text(const Table& whole, const TextOptions& options) {
  const Table table = only_used(whole, options.max_rows);
  std::size_t shown = std::min(options.max_rows, table.rows.size());
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const Column& column : table.columns) widths.push_back(count_columns(column.label));
  for (std::size_t r = 0; r < shown; ++r) {
    std::vector<std::string>& row = cells.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      row.push_back(escape_terminal(display(table.columns[c], table.rows[r][c])));
      widths[c] = std::max(widths[c], count_columns(row.back()));
    }
  }
  std::size_t kept = fit(table, widths, options.width, options.indent.size());
  std::string out;
  auto line = [&](const std::vector<std::string>& row) {
    std::string text = options.indent;
    std::vector<std::string> more;  // lines of the last column
    std::size_t before_last = 0;
    for (std::size_t c = 0; c < kept; ++c) {
      if (c) text += std::string(kGap, ' ');
      const bool last = c > 0 && c + 1 == table.columns.size() && is_text(table.columns[c]);
      if (last) {
        before_last = count_columns(text);
        more = in_lines(row[c], widths[c]);
      }
      text += pad(last ? more.front() : shorten(row[c], widths[c]), widths[c],
                  is_text(table.columns[c]));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
    for (std::size_t i = 1; i < more.size(); ++i)
      out += std::string(before_last, ' ') + more[i] + "\n";
  };
  std::vector<std::string> header;
  for (const Column& column : table.columns) header.push_back(escape_terminal(column.label));
  line(header);
  // Sentences that do not fit beside the figures go below them.
  const bool below = kept + 1 == table.columns.size() && is_text(table.columns.back());
  const std::string under = options.indent + "    ";
  for (const auto& row : cells) {
    line(row);
    if (!below || row.back().empty()) continue;
    for (const std::string& one : in_lines(row.back(), options.width - under.size()))
      out += under + one + "\n";
  }
  if (shown < whole.rows.size())
    out += fmt::format("{}… {} more rows\n", options.indent,
                       format_count(static_cast<std::int64_t>(whole.rows.size() - shown)));
  if (kept < table.columns.size() && !below) {
    std::vector<std::string> left_out(header.begin() + static_cast<std::ptrdiff_t>(kept),
                                      header.end());
    out += fmt::format("{}(too narrow for: {})\n", options.indent, fmt::join(left_out, ", "));
  }
  return out;
}

std::string to_markdown(const Table& whole, std::size_t max_rows) {
  const Table table = only_used(whole, max_rows);
  std::string out = "|";
  for (const Column& column : table.columns)
    out += fmt::format(" {} |", escape_markdown(column.label));
  out += "\n|";
  for (const Column& column : table.columns) out += is_text(column) ? " --- |" : " ---: |";
  out += "\n";
  for (std::size_t r = 0; r < std::min(max_rows, table.rows.size()); ++r) {
    out += "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out += fmt::format(" {} |",
                         escape_markdown(shorten(display(table.columns[c], table.rows[r][c]), 80)));
    }
    out += "\n";
  }
  if (max_rows < whole.rows.size())
    out += fmt::format("\n… {} more rows\n",
                       format_count(static_cast<std::int64_t>(whole.rows.size() - max_rows)));
  return out;
}

std::string to_csv(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    out += (c ? "," : "") + csv_field(table.columns[c].id);
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c) out += ",";
      if (const auto* text = std::get_if<std::string>(&row[c])) out += csv_field(*text);
      if (const auto* integer = std::get_if<std::int64_t>(&row[c]))
        out += fmt::format("{}", *integer);
      if (const auto* number = std::get_if<double>(&row[c])) out += fmt::format("{}", *number);
    }
    out += "\r\n";
  }
  return out;
}

std::string to_html(const Table& whole, std::size_t max_rows, std::size_t marked) {
  const Table table = only_used(whole, max_rows);
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\">\n<table>\n"
      "<caption class=\"away\">{0}</caption>\n<thead><tr>",
      escape_html(table.title));
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", is_text(column) ? "" : " class=\"n\"",
                       escape_html(column.label));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < std::min(max_rows, table.rows.size()); ++r) {
    out += r == marked ? "<tr class=\"marked\">" : "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      std::string text = display(table.columns[c], table.rows[r][c]);
      std::string shown = escape_html(shorten(text, 90));
      std::string title = count_columns(text) > 90
                              ? fmt::format(" title=\"{}\"", escape_html(shorten(text, 2000)))
                              : "";
      out += fmt::format("<td{}{}>{}</td>", is_text(table.columns[c]) ? "" : " class=\"n\"", title,
                         shown);
    }
    out += "</tr>\n";
  }
  out += "</tbody></table>\n</div>\n";
  if (max_rows < whole.rows.size()) {
    out += fmt::format("<p class=\"note\">… {} more rows</p>\n",
                       format_count(static_cast<std::int64_t>(whole.rows.size() - max_rows)));
  }
  return out;
}

nlohmann::ordered_json to_json(const Table& table) {
  nlohmann::ordered_json json;
  json["id"] = table.id;
  json["note"] = table.note;
  json["columns"] = nlohmann::ordered_json::array();
  for (const Column& column : table.columns) json["columns"].push_back(column.id);
  json["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t c = 0; c < row.size(); ++c) {
      nlohmann::ordered_json value;
      if (const auto* text = std::get_if<std::string>(&row[c])) value = to_valid_utf8(*text);
      if (const auto* integer = std::get_if<std::int64_t>(&row[c])) value = *integer;
      if (const auto* number = std::get_if<double>(&row[c])) value = *number;
      object[table.columns[c].id] = value;
    }
    json["rows"].push_back(object);
  }
  return json;
}

}  // namespace headway::analyzer
