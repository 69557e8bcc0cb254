// SPDX-License-Identifier: MIT
#include "trace/import/source/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "trace/file_head.h"

namespace headway::trace::import_detail {

std::span<const Importer* const> importers() {
#define HEADWAY_ADDRESS(name) &name,
  static constexpr auto kImporters =
      std::to_array<const Importer*>({HEADWAY_IMPORTERS(HEADWAY_ADDRESS)});
#undef HEADWAY_ADDRESS
  return kImporters;
}

std::string formats_sentence() {
  std::vector<std::string_view> formats;
  for (const Importer* importer : importers())
    if (!importer->formats.empty()) formats.push_back(importer->formats);
  const std::string_view last = formats.back();
  formats.pop_back();
  return fmt::format("{} or {} (profiles also as .gz or in a .zip)", fmt::join(formats, ", "),
                     last);
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
