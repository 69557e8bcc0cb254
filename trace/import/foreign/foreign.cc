// SPDX-License-Identifier: MIT
// Files of other tools that users may try to open: what each file is, and the command that converts
// it.
#include <array>

#include "common/error.h"
#include "trace/import/source/importer.h"

namespace headway::trace::import_detail {
namespace {

using namespace std::string_view_literals;

struct Foreign {
  std::string_view magic;      ///< first bytes; empty: recognised by its name only
  std::string_view extension;  ///< of the name; empty: recognised by its first bytes only
  std::string_view what;
  std::string_view remedy;       ///< "{}" is the path
  std::string_view inside = {};  ///< text that must be in the head; empty: none
};

constexpr std::string_view kExportNsys =
    "Export it with Nsight Systems: nsys export --type sqlite -o trace.sqlite '{}'";
constexpr std::string_view kTorchAgain =
    "Record with torch.profiler and prof.export_chrome_trace(\"trace.json\"), or with `headway "
    "record -- <command>`.";

constexpr std::string_view kToUtf8 = "Convert it first: iconv -f UTF-16 -t UTF-8 '{}' > trace.json";
constexpr std::string_view kOfAmd =
    "For AMD devices, Headway reads torch.profiler recordings: "
    "prof.export_chrome_trace(\"trace.json\").";
constexpr std::string_view kOfPage = "Open it in a browser; Headway needs the recording behind it.";

// Entries with names come first, because some contents are alike.
constexpr auto kFormats = std::to_array<Foreign>({
    {"", ".nsys-rep", "an Nsight Systems report in its closed format", kExportNsys},
    {"", ".qdrep", "an Nsight Systems report (before 2021.3) in its closed format", kExportNsys},
    {"", ".qdstrm", "an unfinished Nsight Systems recording",
     "Finish it with QdstrmImporter (part of Nsight Systems), then: nsys export --type sqlite -o "
     "trace.sqlite <report>"},
    {"NVR\0"sv, "", "an Nsight Compute report, which contains single kernels and no timeline",
     "Record the whole run instead: nsys profile -o run <command>, then nsys export --type sqlite "
     "-o trace.sqlite run.nsys-rep"},
    {"", ".ncu-rep", "an Nsight Compute report, which contains single kernels and no timeline",
     "Record the whole run instead: nsys profile -o run <command>, then nsys export --type sqlite "
     "-o trace.sqlite run.nsys-rep"},
    {"", ".pftrace", "a trace in Perfetto's protobuf format",
     "Convert it with Perfetto's own tool: traceconv json '{}' trace.json"},
    {"", ".perfetto-trace", "a trace in Perfetto's protobuf format",
     "Convert it with Perfetto's own tool: traceconv json '{}' trace.json"},
    {"\xff\xfe", "", "text in UTF-16", kToUtf8},
    {"\xfe\xff", "", "text in UTF-16", kToUtf8},
    {"{\0"sv, "", "text in UTF-16", kToUtf8},
    {"[\0"sv, "", "text in UTF-16", kToUtf8},
    {"{", "", "the JSON of rocprofv3", kOfAmd, "\"rocprofiler-sdk-tool\""},
    {"\"Kind\",\"Agent_Id\"", "", "a table of rocprofv3", kOfAmd},
    {"\"Domain\",\"Function\"", "", "a table of rocprofv3", kOfAmd},
    {"Index,KernelName", "", "a table of rocprof", kOfAmd},
    {"\"Name\",\"Calls\"", "", "a table of sums, of rocprof or another tool", kOfAmd},
    {"<html", "", "an HTML page (a report, or a memory timeline of PyTorch)", kOfPage},
    {"<!DOCTYPE html", "", "an HTML page (a report, or a memory timeline of PyTorch)", kOfPage},
    {"<!doctype html", "", "an HTML page (a report, or a memory timeline of PyTorch)", kOfPage},
    {"\x28\xb5\x2f\xfd", "", "compressed with Zstandard", "Decompress it first: zstd -d '{}'"},
    {"\xfd"
     "7zXZ",
     "", "compressed with xz", "Decompress it first: xz -dk '{}'"},
    {"BZh", "", "compressed with bzip2", "Decompress it first: bzip2 -dk '{}'"},
    {"7z\xbc\xaf\x27\x1c", "", "a 7-Zip archive", "Unpack it first: 7z x '{}'"},
    {"PAR1", "", "a Parquet file (one table of an Nsight Systems export)",
     "Export the report as SQLite: nsys export --type sqlite -o trace.sqlite <report>.nsys-rep"},
    {"\x89HDF", "", "an HDF5 file (an Nsight Systems export)",
     "Export the report as SQLite: nsys export --type sqlite -o trace.sqlite <report>.nsys-rep"},
    {"ARROW1", "", "an Arrow file (one table of an Nsight Systems export)",
     "Export the report as SQLite: nsys export --type sqlite -o trace.sqlite <report>.nsys-rep"},
    {"", ".pickle", "a Python pickle (perhaps a memory snapshot of PyTorch), which has no timeline",
     kTorchAgain},
    {"\x0a", ".pb", "a protobuf file, but no profile of TensorFlow or JAX (.xplane.pb)",
     "A Perfetto trace converts with: traceconv json '{}' trace.json"},
});

const Foreign* find(const Probe& probe) {
  for (const Foreign& foreign : kFormats) {
    bool magic = !foreign.magic.empty() && probe.begins_with(foreign.magic);
    bool name = !foreign.extension.empty() && probe.ends_in(foreign.extension);
    if (!foreign.inside.empty() && probe.head.find(foreign.inside) == std::string::npos) continue;
    bool both_wanted = !foreign.magic.empty() && !foreign.extension.empty();
    if (both_wanted ? magic && name : magic || name) return &foreign;
  }
  return nullptr;
}

std::string with_path(std::string_view remedy, const std::string& path) {
  std::string text(remedy);
  if (std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, path);
  return text;
}

bool is_foreign(const Probe& probe) {
  return find(probe) != nullptr;
}

/// Always throws Error(kBadInput).
Trace refuse_foreign(const std::filesystem::path& path, const LoadOptions&) {
  const Foreign* foreign = find(probe(path));
  HEADWAY_INVARIANT(foreign);
  fail_input("{}: is {}, which Headway cannot open. {}", path.string(), foreign->what,
             with_path(foreign->remedy, path.string()));
}

}  // namespace

extern const Importer kForeign = {"", is_foreign, refuse_foreign};

}  // namespace headway::trace::import_detail
