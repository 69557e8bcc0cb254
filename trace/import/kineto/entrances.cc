// SPDX-License-Identifier: MIT
// The containers of a Kineto recording: plain, gzip, zip.
#include <sys/stat.h>

#include "common/error.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/xplane/xplane.h"

namespace headway::trace::import_detail {

bool is_zip(const Probe& probe) {
  using namespace std::string_view_literals;
  return probe.begins_with("PK\x03\x04"sv) || probe.begins_with("PK\x05\x06"sv);
}

namespace {

bool is_json(const Probe& probe) {
  std::string_view text = probe.head;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

/// Checks the magic bytes only; load_gzip finds out what is inside.
bool is_gzip(const Probe& probe) {
  return probe.begins_with("\x1f\x8b");
}

Trace load_json(const std::filesystem::path& path, const LoadOptions& options) {
  return load_kineto([&] { return open_plain(path); }, path, options);
}

Trace load_gzip(const std::filesystem::path& path, const LoadOptions& options) {
  // The content decides, as for files that are not compressed.
  Probe inner{path, std::string(Probe::kHeadBytes, '\0')};
  inner.head.resize(open_gzip(path)->read(inner.head.data(), inner.head.size()));
  if (inner.head.empty())
    fail_input("{}: contains only a gzip header; expected a recording.", path.string());
  if (inner.begins_with("SQLite format 3"))
    fail_input("{}: is a compressed SQLite file. Decompress it first: gunzip -k '{}'",
               path.string(), path.string());
  if (inner.head.size() > 262 && inner.head.compare(257, 5, "ustar") == 0)
    fail_input("{}: is a tar archive. Unpack it first: tar xzf '{}'", path.string(), path.string());
  if (kXplane.recognises(inner)) return load_xplane([&] { return open_gzip(path); }, path, options);
  if (!is_json(inner))
    fail_input(
        "{}: the compressed content is not a recording; expected {}. Decompress it to inspect it: "
        "gunzip -k '{}'",
        path.string(), formats_sentence(), path.string());
  return load_kineto([&] { return open_gzip(path); }, path, options);
}

/// Loads a member of an archive; its content decides how, as for separate files.
Trace load_member(const std::filesystem::path& archive, const std::string& member,
                  const std::filesystem::path& path, const LoadOptions& options) {
  OpenSource open = [&] { return open_zip(archive, member); };
  Probe inner{member, std::string(Probe::kHeadBytes, '\0')};
  inner.head.resize(open()->read(inner.head.data(), inner.head.size()));
  return kXplane.recognises(inner) ? load_xplane(open, path, options)
                                   : load_kineto(open, path, options);
}

/// Loads an archive with one recording. Of several, "archive.zip/member.json" opens one.
Trace load_zip(const std::filesystem::path& path, const LoadOptions& options) {
  std::vector<std::string> members = zip_members(path);
  if (members.empty())
    fail_input(
        "{}: is a zip archive without recordings: expected .json, .json.gz or .xplane.pb members. "
        "Unpack archives inside it first: unzip '{}'",
        path.string(), path.string());
  if (members.size() > 1)
    fail_input("{}: holds {} recordings. Open one of them by its name: {}", path.string(),
               members.size(), (path / members.front()).string());
  return load_member(path, members.front(), path, options);
}

/// Splits "archive.zip/member.json"; both empty when there is no such archive.
std::pair<std::filesystem::path, std::string> split_zip(const std::filesystem::path& path) {
  std::filesystem::path archive = path.parent_path();
  std::filesystem::path member = path.filename();
  while (!archive.empty() && archive != archive.parent_path()) {
    struct stat info {};
    if (::stat(archive.c_str(), &info) == 0) {
      if (!S_ISREG(info.st_mode) || !is_zip(probe(archive))) break;
      return {archive, member.generic_string()};
    }
    member = archive.filename() / member;
    archive = archive.parent_path();
  }
  return {};
}

}  // namespace

extern const Importer kKineto = {"the JSON of PyTorch's profiler", is_json, load_json};
extern const Importer kGzip = {"", is_gzip, load_gzip};
extern const Importer kZip = {"", is_zip, load_zip};

bool is_zip_member(const std::filesystem::path& path) {
  return !split_zip(path).second.empty();
}

Trace load_zip_member(const std::filesystem::path& path, const LoadOptions& options) {
  auto [archive, member] = split_zip(path);
  return load_member(archive, member, path, options);
}

}  // namespace headway::trace::import_detail
