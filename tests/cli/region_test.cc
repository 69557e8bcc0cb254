// SPDX-License-Identifier: MIT
// The panel below a program that writes to the same terminal, on a small terminal of our own.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/live/terminal.h"

namespace headway::cli::live {
namespace {

/// What Region and the programs of these tests send, as a VT100 shows it; one byte a character.
class Terminal {
 public:
  Terminal(int rows, int columns) : size_{rows, columns}, bottom_(rows - 1) {
    lines_.assign(static_cast<std::size_t>(rows), "");
  }

  void write(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\033')
        i = escape(text, i + 1);
      else if (c == '\n')
        column_ = 0, index();
      else if (c == '\r')
        column_ = 0;
      else
        put(c);
    }
  }
  /// As most emulators: lines below the cursor go first, then those at the top.
  void resize(int rows, int columns) {
    while (static_cast<int>(lines_.size()) > rows) {
      if (row_ < static_cast<int>(lines_.size()) - 1) {
        lines_.pop_back();
      } else {
        past_.push_back(lines_.front());
        lines_.erase(lines_.begin());
        --row_;
      }
    }
    lines_.resize(static_cast<std::size_t>(rows));
    size_ = {rows, columns};
    top_ = 0;
    bottom_ = rows - 1;
  }
  Size size() const { return size_; }
  /// All that was ever shown and scrolled away, and what is shown; without empty lines at the end.
  std::vector<std::string> everything() const {
    std::vector<std::string> all = past_;
    for (std::string line : lines_) {
      line.erase(line.find_last_not_of(' ') + 1);
      all.push_back(line);
    }
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }
  std::string line(int row) const { return lines_.at(static_cast<std::size_t>(row)); }
  int row() const { return row_; }
  int column() const { return column_; }
  bool scrolls_whole() const { return top_ == 0 && bottom_ == size_.rows - 1; }

 private:
  void index() {
    if (row_ == bottom_) {
      if (top_ == 0) past_.push_back(lines_[0]);
      lines_.erase(lines_.begin() + top_);
      lines_.insert(lines_.begin() + bottom_, "");
    } else if (row_ + 1 < size_.rows) {
      ++row_;
    }
  }
  void put(char c) {
    std::string& line = lines_[static_cast<std::size_t>(row_)];
    const auto column = static_cast<std::size_t>(column_);
    if (line.size() <= column) line.resize(column + 1, ' ');
    line[column] = c;
    if (++column_ == size_.columns) {
      column_ = 0;
      index();
    }
  }
  std::size_t escape(const std::string& text, std::size_t i) {
    if (text[i] == '7') saved_row_ = row_, saved_column_ = column_;
    if (text[i] == '8') row_ = saved_row_, column_ = saved_column_;
    if (text[i] == 'D') index();
    if (text[i] != '[') return i;
    std::vector<int> numbers(1, 0);
    bool any = false;
    for (++i; std::string("0123456789;?").find(text[i]) != std::string::npos; ++i) {
      any = true;
      if (text[i] == ';') numbers.push_back(0);
      if (text[i] >= '0' && text[i] <= '9') numbers.back() = numbers.back() * 10 + text[i] - '0';
    }
    numbers.resize(2);
    switch (text[i]) {
      case 'r':
        top_ = any ? numbers[0] - 1 : 0;
        bottom_ = any ? numbers[1] - 1 : size_.rows - 1;
        row_ = column_ = 0;
        break;
      case 'H':
        row_ = std::max(numbers[0], 1) - 1;
        column_ = std::max(numbers[1], 1) - 1;
        break;
      case 'A':
        row_ = std::max(row_ - std::max(numbers[0], 1), 0);
        break;
      case 'K':
        lines_[static_cast<std::size_t>(row_)].clear();
        break;
      case 'J':
        if (numbers[0] == 2) std::ranges::fill(lines_, "");
        lines_[static_cast<std::size_t>(row_)].resize(static_cast<std::size_t>(column_), ' ');
        for (int below = row_ + 1; below < size_.rows; ++below)
          lines_[static_cast<std::size_t>(below)].clear();
        break;
      default:
        break;
    }
    return i;
  }

  Size size_;
  std::vector<std::string> lines_;
  std::vector<std::string> past_;
  int row_ = 0;
  int column_ = 0;
  int saved_row_ = 0;
  int saved_column_ = 0;
  int top_ = 0;
  int bottom_;
};

const std::vector<std::string> kPanel = {"--- panel ---", "figures"};

std::vector<std::string> without_empty(std::vector<std::string> lines) {
  std::erase(lines, "");
  return lines;
}

}  // namespace

TEST_CASE("what a program writes stays whole above the panel, and nothing is left of it") {
  for (int before : {0, 1, 5, 8, 9, 10, 30}) {
    Terminal terminal(10, 40);
    std::vector<std::string> expected;
    auto print = [&](int i) {
      expected.push_back(fmt::format("line {}", i));
      terminal.write(expected.back() + "\n");
    };
    Region region;
    for (int i = 0; i < before; ++i) print(i);
    for (int i = 0; i < 25; ++i) {
      terminal.write(region.draw(terminal.size(), kPanel));
      CHECK(terminal.line(8) == kPanel[0]);
      CHECK(terminal.line(9) == kPanel[1]);
      print(100 + i);
      CHECK(terminal.line(8) == kPanel[0]);
    }
    terminal.write(region.close());
    CHECK(terminal.scrolls_whole());
    CHECK(terminal.everything() == expected);
    CHECK(region.close().empty());
    print(999);
    CHECK(terminal.everything() == expected);
  }
}

TEST_CASE("a progress bar goes on in the middle of its line") {
  Terminal terminal(10, 40);
  Region region;
  for (int i = 0; i <= 100; i += 10) {
    terminal.write(fmt::format("\r{:3} % done", i));
    terminal.write(region.draw(terminal.size(), kPanel));
  }
  terminal.write(" at last\n");
  terminal.write(region.close());
  CHECK(terminal.everything() == std::vector<std::string>{"100 % done at last"});
}

TEST_CASE("the panel follows a terminal that changes its size") {
  Terminal terminal(24, 80);
  Region region;
  std::vector<std::string> expected;
  int next = 0;
  for (const Size size : {Size{24, 80}, {12, 40}, {30, 100}, {9, 40}, {24, 80}}) {
    if (size != terminal.size()) terminal.resize(size.rows, size.columns);
    for (int i = 0; i < 3; ++i) {
      terminal.write(region.draw(size, kPanel));
      CHECK(terminal.line(size.rows - 1) == kPanel[1]);
      expected.push_back(fmt::format("line {}", next++));
      terminal.write(expected.back() + "\n");
    }
  }
  terminal.write(region.close());
  CHECK(terminal.scrolls_whole());
  CHECK(without_empty(terminal.everything()) == expected);
}

TEST_CASE("the panel comes back after a program cleared the screen or reset the terminal") {
  Terminal terminal(12, 40);
  Region region;
  terminal.write(region.draw(terminal.size(), kPanel));
  terminal.write("\033[H\033[2J\033[r");
  CHECK(terminal.line(10).empty());
  terminal.write("again\n");
  terminal.write(region.draw(terminal.size(), kPanel));
  CHECK(terminal.line(10) == kPanel[0]);
  CHECK_FALSE(terminal.scrolls_whole());
  terminal.write(region.close());
  CHECK(terminal.everything() == std::vector<std::string>{"again"});
}

TEST_CASE("a terminal too small for a panel has none") {
  Region region;
  CHECK(region.draw({7, 80}, kPanel).empty());
  CHECK(region.draw({24, 10}, kPanel).empty());
  Terminal terminal(24, 80);
  terminal.write(region.draw(terminal.size(), kPanel));
  terminal.resize(5, 80);
  terminal.write(region.draw(terminal.size(), kPanel));
  CHECK(terminal.scrolls_whole());
}

TEST_CASE("who does not know the region takes it away, too") {
  Terminal terminal(12, 40);
  Region region;
  terminal.write("hello\n");
  terminal.write(region.draw(terminal.size(), kPanel));
  terminal.write(Region::close_unknown());
  CHECK(terminal.scrolls_whole());
  CHECK(terminal.everything() == std::vector<std::string>{"hello"});
}

}  // namespace headway::cli::live
