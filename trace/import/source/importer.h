// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "trace/load/load.h"

namespace headway::trace::import_detail {

/// What the recognition of a format uses: the first bytes of the file and its name.
struct Probe {
  std::filesystem::path path;
  std::string head;  ///< at most kHeadBytes

  static constexpr std::size_t kHeadBytes = 4096;
  bool begins_with(std::string_view magic) const {
    return std::string_view(head).substr(0, magic.size()) == magic;
  }
  bool ends_in(std::string_view extension) const;  ///< compares the name, ignoring case
};

/// Reads the head. Throws Error(kBadInput) with a message for each case: missing, a folder, not a
/// regular file, not readable, empty.
Probe probe(const std::filesystem::path& path);

/// A format that can be opened.
struct Importer {
  std::string_view formats;  ///< what it reads, for messages; empty: another importer names it
  bool (*recognises)(const Probe&);
  Trace (*load)(const std::filesystem::path&, const LoadOptions&);
  bool in_part = false;  ///< it can load a part of a recording (LoadOptions::stretch)
};

/// The only list of importers; each is defined in the folder of its name. The first importer that recognises a file reads it:
/// formats with unmistakable contents come before those that need the name.
#define HEADWAY_IMPORTERS(IMPORTER) \
  IMPORTER(kSqliteFile)             \
  IMPORTER(kXplane)                 \
  IMPORTER(kForeign)                \
  IMPORTER(kKineto)                 \
  IMPORTER(kGzip)                   \
  IMPORTER(kZip)

#define HEADWAY_DECLARE_IMPORTER(name) extern const Importer name;
HEADWAY_IMPORTERS(HEADWAY_DECLARE_IMPORTER)
#undef HEADWAY_DECLARE_IMPORTER

/// All importers, in the order of the list.
std::span<const Importer* const> importers();

/// The formats that can be opened, as one sentence for messages.
std::string formats_sentence();

}  // namespace headway::trace::import_detail
