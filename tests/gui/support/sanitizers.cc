// SPDX-License-Identifier: MIT
// What the sanitizers report of libraries that are not ours and not built with them.

extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  // Font and keyboard tables that live until the program ends.
  return "leak:libfontconfig\nleak:libQt6Gui\nleak:libQt6XcbQpa\nleak:libglib\nleak:libdbus\n";
}

const char* __tsan_default_suppressions();
const char* __tsan_default_suppressions() {
  // Qt's event queue and mutexes are not instrumented, so the sanitizer sees neither their locks
  // nor what they order. Our threads hand data over under std::mutex, which it does see.
  return "called_from_lib:libQt6Core.so\ncalled_from_lib:libQt6Gui.so\nrace:libQt6Core.so\n"
         "race:libQt6Gui.so\nrace:libglib-2.0.so\nmutex:libQt6Core.so\n";
}
}
