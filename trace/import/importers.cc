// SPDX-License-Identifier: MIT
#include <filesystem>
#include <string>
#include <vector>

#include "common/error.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/source/importer.h"
#include "trace/import/trace_files.h"

namespace headway::trace {

Trace load(const std::filesystem::path& path, const LoadOptions& options) {
  using namespace import_detail;
  if (is_zip_member(path) && !options.stretch) return load_zip_member(path, options);
  Probe file = probe(path);
  for (const Importer* importer : importers()) {
    if (!importer->recognises(file)) continue;
    if (options.stretch && !importer->in_part)
      fail_usage(
          "{0}: only SQLite files can be opened in part. Convert it first: headway import '{0}' -o "
          "trace.sqlite",
          path.string());
    return importer->load(path, options);
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
