// SPDX-License-Identifier: MIT
#include "collector/doctor/python_checks.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "collector/record/launch.h"

namespace headway::doctor {
namespace {

constexpr int kOldest =
    8;  ///< of Python 3: the stable interface that the hook's module is built against

constexpr Check kPython{"python", "Python", nullptr};
constexpr Check kHook{"python-hook", "Recording hook", nullptr};
constexpr Check kSite{"python-site", "Other start-up code", nullptr};
constexpr Check kTorch{"pytorch", "PyTorch", nullptr};
constexpr Check kOthers{"frameworks", "Other frameworks", nullptr};

/// Prints one line of JSON after a mark, because start-up code may print, too. Frameworks are located, not
/// imported.
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

/// The JSON between the mark and the end of its line; null when there is no mark.
nlohmann::json answer_in(const std::string& out) {
  constexpr std::string_view kMark = "headway-doctor ";
  const std::size_t at = out.rfind(kMark);
  if (at == std::string::npos) return nullptr;
  const std::size_t from = at + kMark.size();
  return nlohmann::json::parse(out.substr(from, out.find('\n', from) - from), nullptr, false);
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
            "this Python runs no start-up code (site), so nothing waits for a framework",
            "Start it without -S, -I and -E; CUDA and the program's own NVTX ranges are recorded."};
  return {Status::kOk,
          "loads, and waits for the program to import PyTorch, Keras, TensorFlow or JAX", ""};
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

/// Throws when the answer has other types than the script writes.
std::vector<Checked> judge_answer(const nlohmann::json& answer) {
  const nlohmann::json& numbers = answer.at("version");
  std::string version;
  for (const nlohmann::json& part : numbers)
    version += fmt::format("{}{}", version.empty() ? "" : ".", part.get<int>());
  const int minor = numbers.at(0) == 3 ? numbers.at(1).get<int>() : 0;
  const nlohmann::json executable = answer.value("executable", nlohmann::json());
  std::vector<Checked> all = {
      {&kPython,
       {Status::kOk, version + (executable.is_string() ? ", " + executable.get<std::string>() : ""),
        ""}},
      {&kHook, about_hook(answer, minor)}};
  if (const nlohmann::json site = answer.value("site", nlohmann::json()); site.is_string())
    all.push_back(
        {&kSite, {Status::kNote, site.get<std::string>() + " runs as without Headway", ""}});
  all.push_back({&kTorch, about_torch(answer)});
  all.push_back({&kOthers, about_others(answer)});
  return all;
}

}  // namespace

std::vector<std::string> python_question(const std::string& program) {
  const std::string folder = record::find_pytorch_folder().string();
  const char* theirs = std::getenv("PYTHONPATH");
  const std::string path = folder + (theirs && *theirs ? ":" + std::string(theirs) : "");
  return {"env", "PYTHONPATH=" + path, "HEADWAY_PYTORCH=on", program, "-c", kScript, folder};
}

std::vector<Checked> judge_python(const std::string& program, const std::string& out,
                                  const std::string& why_not) {
  try {
    return judge_answer(answer_in(out));
  } catch (const nlohmann::json::exception&) {
    return {{&kPython,
             {Status::kProblem,
              fmt::format("{}: {}", program, why_not.empty() ? "it printed no answer" : why_not),
              "Name the Python that trains: headway doctor --python /path/to/python3"}}};
  }
}

}  // namespace headway::doctor
