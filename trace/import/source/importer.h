// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/load/load.h"

namespace headway::trace::import_detail {

/// What a sniffer may look at: the first bytes of the file and its name.
struct Probe {
  std::filesystem::path path;
  std::string head;  ///< at most kHeadBytes

  static constexpr std::size_t kHeadBytes = 4096;
  bool begins_with(std::string_view magic) const {
    return std::string_view(head).substr(0, magic.size()) == magic;
  }
  bool ends_in(std::string_view extension) const;  ///< of the name, whatever the case
};

/// Reads the head. Throws Error(kBadInput) that tells apart: missing, a folder, not a regular file,
/// not readable, empty.
Probe probe(const std::filesystem::path& path);

/// A format that can be opened. The first importer of the list in importers.cc that recognises a file reads it.
struct Importer {
  std::string_view name;  ///< as the user knows it: "PyTorch profiler JSON"
  bool (*recognises)(const Probe&);
  Trace (*load)(const std::filesystem::path&, const LoadOptions&);
};

/// The formats that can be opened, as one sentence for messages.
std::string formats_sentence();

}  // namespace headway::trace::import_detail
