// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace headway {

/// Exit codes of every Headway program (docs/user-guide.md). The values are stable.
enum class ExitCode : int {
  kOk = 0,
  kOverBudget = 1,  ///< `check`, `diff`: findings or metrics over budget
  kUsage = 2,       ///< wrong command line
  kBadInput = 3,    ///< a file that cannot be used: missing, empty, corrupt, of a newer version
  kInternal = 4,    ///< a bug, or the system refused something that should work
  // Exit codes of `record` only, with the meaning that shells give them:
  kCannotExecute = 126,    ///< the command to record exists but cannot be executed
  kCommandNotFound = 127,  ///< the command to record does not exist
};

/// The only exception type of Headway. It is thrown where external input is read (arguments, files,
/// the system) and caught in main(). Its text names the object and the place, what was expected and
/// what to try. Never thrown in collector/inject.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::kUsage, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::kBadInput, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail_internal(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ExitCode::kInternal, fmt::format(text, std::forward<Args>(args)...));
}

/// Names the broken invariant (a bug in Headway) and ends the program. Active in every build: a wrong
/// figure is worse than none.
[[noreturn]] void invariant_failed(const char* expression, const char* file, int line);
#define HEADWAY_INVARIANT(expression) \
  ((expression) ? void() : ::headway::invariant_failed(#expression, __FILE__, __LINE__))

/// The text of errno `code`, thread-safe, e.g. "No space left on device".
std::string system_error_text(int code);

}  // namespace headway
