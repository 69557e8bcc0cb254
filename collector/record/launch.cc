// SPDX-License-Identifier: MIT
#include "collector/record/launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "collector/record/messages/file_descriptor.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::record {
namespace {

bool is_file(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_executable(const std::filesystem::path& path) {
  return is_file(path) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::filesystem::path> search_path() {
  const char* value = std::getenv("PATH");
  std::string_view rest = value ? value : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::filesystem::path> folders;
  for (;;) {
    std::size_t colon = rest.find(':');
    std::string_view folder = rest.substr(0, colon);
    folders.emplace_back(folder.empty() ? "." : folder);
    if (colon == std::string_view::npos) return folders;
    rest.remove_prefix(colon + 1);
  }
}

/// " Did you mean './train'?" for a program in this folder that is not in PATH.
std::string hint_for(const std::string& command) {
  if (command.ends_with(".py") && is_file(command))
    return fmt::format(" Did you mean 'python3 {}'?", command);
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(".", error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_executable(entry->path())) names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : closest(command, names, 1))
    return fmt::format(" Did you mean './{}'?", name);
  return "";
}

[[noreturn]] void fail_cannot_execute(const std::string& what, const std::string& why) {
  throw Error(ExitCode::kCannotExecute, fmt::format("{}: cannot be executed: {}.", what, why));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void fail_launch(const std::filesystem::path& program, int code) {
  fail_cannot_execute(program.string(), code == ENOENT
                                            ? "the interpreter in its first line is missing"
                                            : system_error_text(code));
}

/// The command line that execvp uses for a script without a #! line.
std::vector<std::string> as_script(const std::filesystem::path& program,
                                   const std::vector<std::string>& command) {
  std::vector<std::string> words = {"/bin/sh", program.string()};
  words.insert(words.end(), command.begin() + 1, command.end());
  return words;
}

}  // namespace

std::filesystem::path find_command(const std::string& command) {
  if (command.empty()) fail_usage("the command to record is empty.");
  if (command.find('/') != std::string::npos) {
    std::error_code error;
    if (!std::filesystem::exists(command, error))
      throw Error(ExitCode::kCommandNotFound, fmt::format("{}: no such file.", command));
    if (std::filesystem::is_directory(command, error))
      fail_cannot_execute(command, "it is a folder");
    if (!is_executable(command))
      fail_cannot_execute(command,
                          "it is not executable (chmod +x), or it is a script for an interpreter: "
                          "use python3 script.py");
    return command;
  }
  std::filesystem::path not_executable;
  for (const std::filesystem::path& folder : search_path()) {
    std::filesystem::path candidate = folder / command;
    if (is_executable(candidate)) return candidate;
    if (not_executable.empty() && is_file(candidate)) not_executable = candidate;
  }
  if (!not_executable.empty())
    fail_cannot_execute(not_executable.string(), "it is not executable (chmod +x)");
  throw Error(ExitCode::kCommandNotFound,
              fmt::format("{}: command not found.{}", command, hint_for(command)));
}

std::filesystem::path find_inject_library(bool with_io) {
  const char* name = with_io ? "libheadway_io.so" : "libheadway_inject.so";
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = self.parent_path() / name;
  std::filesystem::path installed = self.parent_path().parent_path() / "lib" / "headway" / name;
  if (is_file(beside)) return beside;
  if (is_file(installed)) return installed;
  fail_internal("{} is missing: it is neither {} nor {}. Build or install Headway again.", name,
                beside.string(), installed.string());
}

std::filesystem::path find_pytorch_folder() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = self.parent_path() / "headway-pytorch";
  std::filesystem::path installed =
      self.parent_path().parent_path() / "lib" / "headway" / "pytorch";
  for (const std::filesystem::path& folder : {beside, installed}) {
    if (is_file(folder / "_headway_nvtx.abi3.so") && is_file(folder / "sitecustomize.py"))
      return folder;
  }
  fail_usage(
      "--pytorch: the Python binding is missing: neither {} nor {} contains _headway_nvtx.abi3.so. "
      "Headway was built without Python.h: install python3-dev, configure and build again.",
      beside.string(), installed.string());
}

SignalState::SignalState() {
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_);
  ::sigaction(SIGPIPE, nullptr, &pipe_);
  ::sigaction(SIGXFSZ, nullptr, &file_size_);
}

void SignalState::restore() const {
  ::sigaction(SIGPIPE, &pipe_, nullptr);
  ::sigaction(SIGXFSZ, &file_size_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> result = changes;
  for (char** entry = environ; *entry; ++entry) {
    bool replaced = std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
      return name_of(change) == name_of(*entry);
    });
    if (!replaced) result.emplace_back(*entry);
  }
  return result;
}

pid_t launch(const std::filesystem::path& program, const std::vector<std::string>& command,
             const std::vector<std::string>& environment, const SignalState& signals) {
  // Everything that the child needs is made before: it may only call functions that are safe after
  // fork.
  std::vector<char*> arguments = pointers_to(command);
  std::vector<char*> variables = pointers_to(environment);
  std::vector<std::string> script_command = as_script(program, command);
  std::vector<char*> script_arguments = pointers_to(script_command);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    fail_internal("cannot create a pipe: {}. Raise `ulimit -n`.", system_error_text(errno));
  FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  pid_t child = ::fork();
  if (child < 0) fail_internal("cannot start a process: {}.", system_error_text(errno));
  if (child == 0) {
    signals.restore();
    ::execve(program.c_str(), arguments.data(), variables.data());
    if (errno == ENOEXEC) ::execve("/bin/sh", script_arguments.data(), variables.data());
    int code = errno;
    [[maybe_unused]] ssize_t told = ::write(write_end.get(), &code, sizeof code);
    ::_exit(static_cast<int>(ExitCode::kCannotExecute));
  }
  write_end.reset();
  int code = 0;
  ssize_t got;
  do {
    got = ::read(read_end.get(), &code, sizeof code);  // ends when exec closes the other end
  } while (got < 0 && errno == EINTR);
  if (got != sizeof code) return child;
  ::waitpid(child, nullptr, 0);
  fail_launch(program, code);
}

void become(const std::filesystem::path& program, const std::vector<std::string>& command) {
  std::vector<std::string> script_command = as_script(program, command);
  ::execve(program.c_str(), pointers_to(command).data(), environ);
  if (errno == ENOEXEC) ::execve("/bin/sh", pointers_to(script_command).data(), environ);
  fail_launch(program, errno);
}

}  // namespace headway::record
