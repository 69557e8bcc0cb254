// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace headway::cli::live {

struct Size {
  int rows = 0;
  int columns = 0;
  bool operator==(const Size&) const = default;
};

/// Of the terminal `fd`; none when it is no terminal or does not tell.
Size terminal_size(int fd);
/// Whether escape sequences can be drawn there: a terminal that is not dumb.
bool can_draw(int fd);
/// Colour is wanted: no NO_COLOR (https://no-color.org).
bool wants_colour();
/// In one call, so that what others write to the same terminal does not come in between. False when
/// nobody reads any more.
bool write_all(int fd, const std::string& text);

/// A panel in the last lines of a terminal that another program writes to. It writes in a scroll
/// region above the panel, straight to the terminal: nothing of it passes through here. Each string
/// returned leaves the cursor where the program has it.
class Region {
 public:
  /// What to write to show these lines. Makes room at first, and anew when the size changes.
  std::string draw(Size size, const std::vector<std::string>& lines);
  /// What to write so that no trace is left of it; empty when nothing is shown.
  std::string close();

  /// The most lines that leave the program enough room.
  static int most_lines(Size size);
  /// What takes a region away about which nothing is known.
  static std::string close_unknown();

 private:
  std::string open(Size size, int lines);

  Size size_;
  int lines_ = 0;  ///< 0: not open
};

/// A panel on a screen of its own; the one before comes back when it is closed.
class FullScreen {
 public:
  std::string draw(const std::vector<std::string>& lines);
  std::string close();
  /// Also fit for a signal handler.
  static const char* closing();

 private:
  bool open_ = false;
};

}  // namespace headway::cli::live
