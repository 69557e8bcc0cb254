// SPDX-License-Identifier: MIT
// A libnvrtc.so.13 for machines without a GPU: generated code is compiled by the host's compiler with emulator.h, as the kernels of
// kernels/cuda/ are, into a library in a folder that goes with the process; the image names it (generated_image.h).
// FAKE_NVRTC_FAILS=compile refuses all code, with a log; FAKE_NVRTC_ARCHITECTURES=80 knows an older GPU only;
// FAKE_NVRTC_CALLS=FILE keeps what is compiled and for what, a line each.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/targets/fake_cuda/generated_image.h"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

enum Status { kSuccess = 0, kInvalidInput = 3, kCompilation = 6 };

struct Program {
  std::string text;
  std::string name;
  std::set<std::string> headers;
  std::string log;
  std::string image;
};

Program& of(void* program) {
  return *static_cast<Program*>(program);
}

/// Where libraries lie until the process ends.
struct Folder {
  std::string path = std::filesystem::temp_directory_path() / "headway_fake_nvrtc_XXXXXX";
  Folder() {
    if (!mkdtemp(path.data())) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

int architecture() {
  const char* wanted = std::getenv("FAKE_NVRTC_ARCHITECTURES");
  return wanted ? std::atoi(wanted) : 90;
}

/// NVRTC sees no folder: what is included must have been handed over.
bool includes_are_known(Program& program) {
  std::istringstream lines(program.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#include \"")) continue;
    const std::string header = line.substr(10, line.rfind('"') - 10);
    if (program.headers.contains(header)) continue;
    program.log = "cannot open source file \"" + header + "\"\n";
    return false;
  }
  return true;
}

int give_size(std::size_t* size, const std::string& text) {
  *size = text.size() + 1;
  return kSuccess;
}
int give(char* to, const std::string& text) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

FAKE const char* nvrtcGetErrorString(int status) {
  return status == kSuccess       ? "NVRTC_SUCCESS"
         : status == kCompilation ? "NVRTC_ERROR_COMPILATION"
                                  : "NVRTC_ERROR_INVALID_INPUT";
}
FAKE int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return kSuccess;
}
FAKE int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return kSuccess;
}
FAKE int nvrtcGetSupportedArchs(int* architectures) {
  *architectures = architecture();
  return kSuccess;
}
FAKE int nvrtcCreateProgram(void** program, const char* text, const char* name, int headers,
                            const char* const*, const char* const* names) {
  *program = new Program{text, name, {names, names + headers}, {}, {}};
  return kSuccess;
}
FAKE int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return kSuccess;
}
FAKE int nvrtcCompileProgram(void* handle, int options, const char* const* option) {
  static const Folder folder;
  static int number = 0;
  Program& program = of(handle);
  if (const char* calls = std::getenv("FAKE_NVRTC_CALLS")) {
    std::ofstream out(calls, std::ios::app);
    out << program.name;
    for (int i = 0; i < options; ++i) out << ' ' << option[i];
    out << '\n';
  }
  if (std::getenv("FAKE_NVRTC_FAILS")) {
    program.log = program.name + "(1): error: refused by FAKE_NVRTC_FAILS\n";
    return kCompilation;
  }
  if (!includes_are_known(program)) return kCompilation;
  const std::string base = folder.path + "/" + std::to_string(number++);
  std::ofstream(base + ".cc") << program.text;
  const std::string command = HEADWAY_EMULATION_COMPILER " '" + base +
                              ".cc' '" HEADWAY_EMULATION_DRIVER "' -o '" + base + ".so' > '" +
                              base + ".log' 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::ostringstream log;
    log << std::ifstream(base + ".log").rdbuf();
    program.log = log.str();
    return kCompilation;
  }
  program.image = emulator::kGeneratedImage + base + ".so";
  return kSuccess;
}
FAKE int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  return give_size(size, of(program).image);
}
FAKE int nvrtcGetCUBIN(void* program, char* to) {
  return give(to, of(program).image);
}
FAKE int nvrtcGetPTXSize(void* program, std::size_t* size) {
  return give_size(size, of(program).image);
}
FAKE int nvrtcGetPTX(void* program, char* to) {
  return give(to, of(program).image);
}
FAKE int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  return give_size(size, of(program).log);
}
FAKE int nvrtcGetProgramLog(void* program, char* to) {
  return give(to, of(program).log);
}
