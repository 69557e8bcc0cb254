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

/// Size of the terminal `fd`; none if it is not a terminal or has no size.
Size terminal_size(int fd);
/// Whether the terminal supports escape sequences (not "dumb").
bool can_draw(int fd);
/// Colour is wanted: no NO_COLOR (https://no-color.org).
bool wants_colour();
/// Writes in one call, so that other writers to the terminal cannot interleave. False if the reader has
/// closed.
bool write_all(int fd, const std::string& text);

/// A panel in the last lines of a terminal that another program writes to. The program writes directly
/// to the terminal, in a scroll region above the panel. Each returned string restores the program's
/// cursor position.
class Region {
 public:
  /// Text that shows these lines. Makes room at first, and again after a change of size.
  std::string draw(Size size, const std::vector<std::string>& lines);
  /// Text that removes the panel; empty if nothing is shown.
  std::string close();

  /// The maximum number of lines that leaves the program enough room.
  static int most_lines(Size size);
  /// Text that removes a region of unknown size.
  static std::string close_unknown();

 private:
  std::string open(Size size, int lines);

  Size size_;
  int lines_ = 0;  ///< 0: not open
};

/// A panel on the alternate screen; closing it restores the main screen.
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
