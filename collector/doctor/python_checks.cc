// SPDX-License-Identifier: MIT
#include "collector/doctor/python_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "collector/record/launch.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::doctor {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr int kOldest =
    8;  ///< of Python 3: the stable interface that the hook's module is built against

constexpr Check kPython{"python", "Python", nullptr};
constexpr Check kHook{"python-hook", "Recording hook", nullptr};
constexpr Check kSite{"python-site", "Other start-up code", nullptr};
constexpr Check kTorch{"pytorch", "PyTorch", nullptr};
constexpr Check kOthers{"frameworks", "Other frameworks", nullptr};

/// Prints one line of JSON behind a mark: start-up code may print, too. Frameworks are found, not imported.
constexpr const char* kScript = R"py(
import importlib.util, json, os, re, sys
folder = sys.argv[1]
answer = {"version": list(sys.version_info[:3]), "executable": sys.executable, "cuda": None, "packages": {}}
answer["waits"] = any(type(finder).__name__ == "_AfterImport" for finder in sys.meta_path)
site = getattr(sys.modules.get("sitecustomize"), "__file__", None)
answer["site"] = site if site and os.path.dirname(os.path.abspath(site)) != folder else None
try:
    spec = importlib.util.spec_from_file_location("_headway_nvtx", os.path.join(folder, "_headway_nvtx.abi3.so"))
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    answer["module"] = "loads"
except BaseException as error:
    answer["module"] = str(error)
try:
    import importlib.metadata as metadata
    for name in ("torch", "torchvision", "lightning", "accelerate", "transformers", "jax", "tensorflow", "keras"):
        try:
            answer["packages"][name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    spec = importlib.util.find_spec("torch")
    if spec and spec.origin:
        with open(os.path.join(os.path.dirname(spec.origin), "version.py")) as file:
            found = re.search(r"^cuda\b.*=\s*['\"]([^'\"]+)", file.read(), re.MULTILINE)
        answer["cuda"] = found and found.group(1)
except Exception as error:
    answer["packages_unknown"] = str(error)
print("headway-doctor " + json.dumps(answer))
)py";

struct Ran {
  std::string out;
  std::string why_not;  ///< empty: it ended by itself, with status 0
};

/// All that it writes, to either stream, until it ends or patience does.
std::string read_all(int fd, bool& in_time) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string out;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd wanted{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) == 0) {
      in_time = false;
      return out;
    }
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return out;
    out.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

Ran run_python(const std::string& program, const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {"", std::strerror(errno)};
  const char* theirs = std::getenv("PYTHONPATH");
  std::vector<std::string> environment = record::environment_with(
      {"PYTHONPATH=" + folder + (theirs && *theirs ? ":" + std::string(theirs) : ""),
       "HEADWAY_PYTORCH=modules"});
  std::vector<std::string> command = {program, "-c", kScript, folder};
  auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  };
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_adddup2(&files, ends[1], stream);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &files, nullptr,
                                   pointers(command).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return {"", std::strerror(error)};
  }
  bool in_time = true;
  Ran ran;
  ran.out = read_all(ends[0], in_time);
  ::close(ends[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    ran.why_not = fmt::format("it did not answer within {} s", kPatience.count());
  else if (WIFSIGNALED(status))
    ran.why_not = fmt::format("it was ended by signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    ran.why_not = fmt::format("it ended with status {}", WEXITSTATUS(status));
  return ran;
}

/// What follows the mark, to the end of the line; null where there is none.
nlohmann::json answer_in(const std::string& out) {
  constexpr std::string_view kMark = "headway-doctor ";
  const std::size_t at = out.rfind(kMark);
  if (at == std::string::npos) return nullptr;
  const std::size_t from = at + kMark.size();
  return nlohmann::json::parse(out.substr(from, out.find('\n', from) - from), nullptr, false);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Finding about_hook(const nlohmann::json& answer, int minor) {
  if (minor < kOldest)
    return {Status::kProblem, fmt::format("needs Python 3.{} or newer", kOldest),
            "Use a newer Python; CUDA and the program's own NVTX ranges are recorded without it."};
  const std::string module = answer.value("module", "");
  if (module != "loads")
    return {Status::kProblem, fmt::format("its module does not load: {}", module),
            "Install the wheel for this machine (x86-64, glibc 2.34 or newer)."};
  if (!answer.value("waits", false))
    return {Status::kWarning,
            "this Python runs no start-up code (site), so nothing waits for torch",
            "Start it without -S, -I and -E; CUDA and the program's own NVTX ranges are recorded."};
  return {Status::kOk, "loads, and waits for the program to import torch", ""};
}

Finding about_torch(const nlohmann::json& answer) {
  const nlohmann::json packages = answer.value("packages", nlohmann::json::object());
  if (answer.contains("packages_unknown"))
    return {Status::kNote, "not known: " + answer.value("packages_unknown", ""), ""};
  if (!packages.contains("torch")) return {Status::kNote, "not installed in this Python", ""};
  std::string text = packages.value("torch", "");
  const nlohmann::json cuda = answer.value("cuda", nlohmann::json());
  text += cuda.is_string() ? ", built for CUDA " + cuda.get<std::string>() : ", built without CUDA";
  for (const char* name : {"torchvision", "lightning", "accelerate", "transformers"})
    if (packages.contains(name)) text += fmt::format("; {} {}", name, packages.value(name, ""));
  return {Status::kOk, text, ""};
}

Finding about_others(const nlohmann::json& answer) {
  const nlohmann::json packages = answer.value("packages", nlohmann::json::object());
  std::string text;
  for (const char* name : {"jax", "tensorflow", "keras"})
    if (packages.contains(name))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, packages.value(name, ""));
  if (text.empty()) return {Status::kNote, "no JAX, no TensorFlow", ""};
  return {Status::kOk, text, ""};
}

}  // namespace

std::vector<Checked> judge_python(const std::string& program, const std::string& out,
                                  const std::string& why_not) {
  const nlohmann::json answer = answer_in(out);
  if (!answer.is_object() || !answer.contains("version") || answer["version"].size() < 2) {
    const std::string said = last_line(out);
    const std::string why = why_not.empty() ? "it printed no answer" : why_not;
    return {{&kPython,
             {Status::kProblem,
              fmt::format("{}: {}{}", program, why, said.empty() ? "" : " (" + said + ")"),
              "Name the Python that trains: headway doctor --python /path/to/python3"}}};
  }
  std::string version;
  for (const nlohmann::json& part : answer["version"])
    version += (version.empty() ? "" : ".") + part.dump();
  const bool three = answer["version"][0] == 3;
  const int minor = three ? answer["version"][1].get<int>() : 0;
  std::vector<Checked> all = {
      {&kPython, {Status::kOk, fmt::format("{}, {}", version, answer.value("executable", "")), ""}},
      {&kHook, about_hook(answer, minor)}};
  if (const nlohmann::json site = answer.value("site", nlohmann::json()); site.is_string())
    all.push_back(
        {&kSite, {Status::kNote, site.get<std::string>() + " runs as without Headway", ""}});
  all.push_back({&kTorch, about_torch(answer)});
  all.push_back({&kOthers, about_others(answer)});
  return all;
}

std::vector<Checked> check_python(const std::string& program) {
  try {
    const std::string folder = record::find_pytorch_folder().string();
    const Ran ran = run_python(program, folder);
    return judge_python(program, ran.out, ran.why_not);
  } catch (const Error& error) {
    return {{&kHook, {Status::kProblem, error.what(), "Build or install Headway again."}}};
  }
}

}  // namespace headway::doctor
