// SPDX-License-Identifier: MIT
#include "tests/collector/run_recorder.h"

#include <fcntl.h>
#include <pty.h>
#include <sqlite3.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "trace/sqlite/database.h"

namespace headway::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void redirect(const std::filesystem::path& path, int fd) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  ::dup2(file, fd);
  ::close(file);
}

}  // namespace

Recorder::Recorder(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  arguments_.insert(arguments_.begin(), {program("headway"), "record"});
}

Recorder::~Recorder() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (master_ >= 0) ::close(master_);
}

Recorder& Recorder::instead(std::vector<std::string> words) {
  arguments_ = std::move(words);
  return *this;
}

Recorder& Recorder::in(const std::filesystem::path& folder) {
  folder_ = folder;
  return *this;
}

Recorder& Recorder::with(const std::string& name_and_value) {
  environment_.push_back(name_and_value);
  return *this;
}

Recorder& Recorder::ignoring(int signal) {
  ignored_signal_ = signal;
  return *this;
}

bool has_terminals() {
  int master = -1;
  int slave = -1;
  if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return false;
  ::close(master);
  ::close(slave);
  return true;
}

Recorder& Recorder::on_terminal() {
  terminal_ = true;
  return *this;
}

void Recorder::start() {
  int slave = -1;
  if (terminal_ && ::openpty(&master_, &slave, nullptr, nullptr, nullptr) != 0)
    throw std::runtime_error("openpty failed");
  pid_ = ::fork();
  if (pid_ != 0) {
    if (slave >= 0) ::close(slave);
    return;
  }
  if (terminal_) {
    ::setsid();
    ::ioctl(slave, TIOCSCTTY, 0);
    for (int fd : {0, 1, 2}) ::dup2(slave, fd);
  } else {
    redirect("/dev/null", 0);
    redirect(files_ / "out", 1);
    redirect(files_ / "err", 2);
  }
  if (!folder_.empty() && ::chdir(folder_.c_str()) != 0) ::_exit(99);
  if (ignored_signal_ != 0) ::signal(ignored_signal_, SIG_IGN);
  for (std::string& variable : environment_) ::putenv(variable.data());
  std::vector<char*> pointers;
  for (std::string& argument : arguments_) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  ::_exit(98);
}

void Recorder::type(const std::string& keys) {
  if (::write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error("cannot type into the terminal");
}

Finished Recorder::wait() {
  Finished finished;
  int status = 0;
  if (terminal_) {
    // Reading ends with EIO when the last process has closed the terminal.
    char buffer[4096];
    for (ssize_t got; (got = ::read(master_, buffer, sizeof buffer)) > 0;)
      finished.out.append(buffer, static_cast<std::size_t>(got));
  }
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!terminal_) {
    finished.out = read_file(files_ / "out");
    finished.err = read_file(files_ / "err");
  }
  return finished;
}

std::string program(const std::string& name) {
  return std::string(HEADWAY_BINARY_DIR) + "/" + name;
}

std::string target(const std::string& name) {
  return program("targets/" + name);
}

Recorded record(const TemporaryFolder& folder, const std::vector<std::string>& command,
                const std::vector<std::string>& options) {
  Recorded result;
  result.trace = folder / "run.sqlite";
  std::vector<std::string> arguments = {"--quiet", "-o", result.trace.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  Recorder recorder(arguments);
  recorder.start();
  result.finished = recorder.wait();
  return result;
}

Rows query(const std::filesystem::path& trace, const std::string& sql,
           const std::vector<std::string>& values) {
  trace::sqlite::Database db = trace::sqlite::Database::open_read_only(trace);
  trace::sqlite::Statement statement = db.prepare(sql);
  for (std::size_t i = 0; i < values.size(); ++i)
    statement.bind(static_cast<int>(i) + 1, std::string_view(values[i]));
  Rows rows;
  int columns = sqlite3_column_count(statement.handle());
  while (statement.step()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (int c = 0; c < columns; ++c)
      row.push_back(statement.is_null(c) ? "NULL" : std::string(statement.text(c)));
  }
  return rows;
}

std::int64_t number(const std::filesystem::path& trace, const std::string& sql,
                    const std::vector<std::string>& values) {
  try {
    Rows rows = query(trace, sql, values);
    return rows.empty() || rows[0][0] == "NULL" ? 0 : std::stoll(rows[0][0]);
  } catch (const std::exception& error) {
    if (std::string(error.what()).find("no such table") != std::string::npos) return 0;
    throw;
  }
}

std::int64_t loss(const std::filesystem::path& trace, const std::string& counter) {
  return number(trace, "SELECT sum(count) FROM HEADWAY_LOSS WHERE name=?1", {counter});
}

std::string meta(const std::filesystem::path& trace, const std::string& key) {
  Rows rows = query(trace, "SELECT value FROM HEADWAY_META WHERE name=?1", {key});
  return rows.empty() ? "" : rows[0][0];
}

std::int64_t ranges(const std::filesystem::path& trace, const std::string& name) {
  return number(trace,
                "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE value=?1 AND "
                "end IS NOT NULL",
                {name});
}

bool intact(const std::filesystem::path& trace) {
  return query(trace, "PRAGMA integrity_check") == Rows{{"ok"}};
}

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace headway::test
