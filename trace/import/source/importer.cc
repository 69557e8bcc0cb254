// SPDX-License-Identifier: MIT
#include "trace/import/source/importer.h"

#include <algorithm>
#include <cctype>

#include "trace/file_head.h"

namespace headway::trace::import_detail {

std::string formats_sentence() {
  return "Headway's own SQLite file, an SQLite export of Nsight Systems, the JSON of PyTorch's "
         "profiler or the .xplane.pb of JAX's or TensorFlow's (plain, .gz or in a .zip)";
}

bool Probe::ends_in(std::string_view extension) const {
  std::string name = path.filename().string();
  return name.size() >= extension.size() &&
         std::equal(extension.rbegin(), extension.rend(), name.rbegin(),
                    [](char a, unsigned char b) { return a == std::tolower(b); });
}

Probe probe(const std::filesystem::path& path) {
  return {path, read_head(path, Probe::kHeadBytes)};
}

}  // namespace headway::trace::import_detail
