// SPDX-License-Identifier: MIT
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "trace/import/foreign/foreign.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/source/importer.h"
#include "trace/import/sqlite/sqlite.h"
#include "trace/import/trace_files.h"
#include "trace/import/xplane/xplane.h"

namespace headway::trace {
namespace import_detail {
namespace {

std::span<const Importer> importers() {
  // The first that recognises a file reads it. Contents that are beyond doubt come before those
  // that need the name.
  static constexpr auto kImporters = std::to_array<Importer>({
      {"Headway or Nsight Systems SQLite", is_sqlite, load_sqlite},
      {"XPlane of JAX or TensorFlow", is_xplane, load_xplane},
      {"a file of another tool", is_foreign, refuse_foreign},
      {"PyTorch profiler JSON", is_json, load_json},
      {"PyTorch profiler JSON or XPlane, gzip", is_gzip, load_gzip},
      {"PyTorch profiler JSON or XPlane, zip", is_zip, load_zip},
  });
  return kImporters;
}

}  // namespace
}  // namespace import_detail

Trace load(const std::filesystem::path& path, const LoadOptions& options) {
  using namespace import_detail;
  if (is_zip_member(path) && !options.stretch) return load_zip_member(path, options);
  Probe file = probe(path);
  for (const Importer& importer : importers()) {
    if (!importer.recognises(file)) continue;
    if (options.stretch && importer.recognises != is_sqlite)
      fail_usage(
          "{0}: only SQLite files can be opened in part. Convert it first: headway import '{0}' -o "
          "trace.sqlite",
          path.string());
    return importer.load(path, options);
  }
  fail_input("{}: is not a trace: expected {}.", path.string(), formats_sentence());
}

std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path) {
  using namespace import_detail;
  if (is_zip_member(path) || !is_zip(probe(path))) return {path};
  std::vector<std::filesystem::path> files;
  for (const std::string& member : zip_members(path)) files.push_back(path / member);
  if (files.size() == 1) return {path};
  if (files.empty())
    fail_input(
        "{}: is a zip archive without recordings: expected .json, .json.gz or .xplane.pb members. "
        "Unpack archives inside it first: unzip '{}'",
        path.string(), path.string());
  return files;
}

}  // namespace headway::trace
