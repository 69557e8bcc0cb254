// SPDX-License-Identifier: MIT
#include "cli/live/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace headway::cli::live {
namespace {

// ECMA-48 and DEC private sequences that all current terminal emulators support.
constexpr std::string_view kSaveCursor = "\0337";  // with text attributes
constexpr std::string_view kRestoreCursor = "\0338";
constexpr std::string_view kDownOrScroll = "\033D";  // in the same column
constexpr std::string_view kWholeScreenScrolls = "\033[r";
constexpr std::string_view kEraseBelow = "\033[J";
constexpr std::string_view kEraseLine = "\033[2K";
constexpr std::string_view kPlain = "\033[0m";

constexpr int kFewestRows = 8;  ///< minimum height of a terminal with a panel

}  // namespace

Size terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

bool can_draw(int fd) {
  const char* terminal = std::getenv("TERM");
  if (!terminal || !*terminal || std::string_view(terminal) == "dumb") return false;
  return ::isatty(fd) == 1 && terminal_size(fd).rows > 0;
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return !no_colour || !*no_colour;
}

bool write_all(int fd, const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      if (::poll(&room, 1, 1000) > 0) continue;
    }
    if (errno != EINTR) return false;
  }
  return true;
}

int Region::most_lines(Size size) {
  return size.rows < kFewestRows || size.columns < 20 ? 0 : size.rows / 3;
}

std::string Region::open(Size size, int lines) {
  std::string out;
  if (lines_ > 0) {
    // Wherever the terminal has moved the old panel, it is below the cursor.
    out += fmt::format("{}{}{}{}", kSaveCursor, kWholeScreenScrolls, kRestoreCursor, kEraseBelow);
  }
  for (int i = 0; i < lines; ++i) out += kDownOrScroll;
  out += fmt::format("\033[{}A", lines);
  size_ = size;
  lines_ = lines;
  return out;
}

std::string Region::draw(Size size, const std::vector<std::string>& lines) {
  const int count = std::min(static_cast<int>(lines.size()), most_lines(size));
  if (count == 0) return close();
  std::string out;
  if (lines_ != count || size_ != size) out = open(size, count);
  // Set each time, in case the program has reset the terminal.
  out += fmt::format("{}\033[1;{}r", kSaveCursor, size.rows - count);
  for (int i = 0; i < count; ++i)
    out += fmt::format("\033[{};1H{}{}{}{}", size.rows - count + 1 + i, kPlain, kEraseLine,
                       lines[static_cast<std::size_t>(i)], kPlain);
  return out + std::string(kRestoreCursor);
}

std::string Region::close() {
  if (lines_ == 0) return "";
  std::string out = fmt::format("{}{}{}", kSaveCursor, kPlain, kWholeScreenScrolls);
  for (int i = 0; i < lines_; ++i)
    out += fmt::format("\033[{};1H{}", size_.rows - lines_ + 1 + i, kEraseLine);
  lines_ = 0;
  return out + std::string(kRestoreCursor);
}

std::string Region::close_unknown() {
  return fmt::format("{}{}{}{}{}", kSaveCursor, kWholeScreenScrolls, kRestoreCursor, kPlain,
                     kEraseBelow);
}

std::string FullScreen::draw(const std::vector<std::string>& lines) {
  std::string out = std::exchange(open_, true) ? "" : "\033[?1049h\033[?25l";
  out += "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += fmt::format("{}{}{}", kEraseLine, lines[i], i + 1 < lines.size() ? "\r\n" : "");
  return out + std::string(kEraseBelow);
}

const char* FullScreen::closing() {
  return "\033[0m\033[?25h\033[?1049l";
}

std::string FullScreen::close() {
  return std::exchange(open_, false) ? closing() : "";
}

}  // namespace headway::cli::live
