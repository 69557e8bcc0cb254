// SPDX-License-Identifier: MIT
#include "trace/import/xplane/xplane.h"

#include <algorithm>

#include "common/error.h"
#include "trace/import/xplane/build.h"
#include "trace/meta_keys.h"

namespace headway::trace::import_detail {
namespace {

using namespace xplane;

/// The largest message, which is protobuf's own limit.
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

std::string read_all(Source& source, const std::string& name, const LoadOptions& options) {
  std::string bytes;
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  for (;;) {
    std::size_t held = bytes.size();
    if (held >= kMostBytes)
      fail_input("{}: larger than 2 GiB, too large for a profile. Record fewer steps.", name);
    if (bytes.capacity() < held + kBlock) bytes.reserve(std::max(held * 2, held + kBlock));
    bytes.resize(held + kBlock);
    std::size_t got = source.read(bytes.data() + held, kBlock);
    bytes.resize(held + got);
    if (options.progress) options.progress(source.fraction() * 0.3);
    if (got < kBlock) break;
  }
  if (source.cut())
    fail_input(
        "{}: the compressed data end too early, after {} bytes of the profile. Copy the file again "
        "or record again.",
        name, bytes.size());
  return bytes;
}

/// Whether the bytes were decoded and written as text, which replaces binary bytes by U+FFFD.
bool was_read_as_text(std::string_view bytes) {
  constexpr std::size_t kLook = 64 << 10;
  bytes = bytes.substr(0, kLook);
  std::size_t replaced = 0;
  for (std::size_t at = bytes.find("\xef\xbf\xbd"); at != std::string_view::npos;
       at = bytes.find("\xef\xbf\xbd", at + 3))
    ++replaced;
  constexpr std::size_t kFew = 50;
  return replaced * kFew > bytes.size();
}

Space parse(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) fail_input("{}: is empty; expected a profile (.xplane.pb).", name);
  if (was_read_as_text(bytes))
    fail_input(
        "{}: is damaged from byte 0: a program read the profile as text and replaced invalid "
        "bytes. Copy the file again in binary mode.",
        name);
  try {
    return read_space(bytes);
  } catch (const WireFault& fault) {
    fail_input(
        "{}: byte {} of {}: {}. The profile is cut or damaged: copy the file again or record "
        "again.",
        name, fault.offset, bytes.size(), fault.what);
  }
}

std::string plain(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string out(text.substr(0, kMost));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return out;
}

void add_facts(Building& building, const Space& space) {
  Trace& trace = building.trace;
  trace.meta[std::string(meta::kProducer)] = "XPlane (jax.profiler or TensorFlow profiler)";
  if (!space.hosts.empty() && !space.hosts.front().empty())
    trace.meta[std::string(meta::kHost)] = space.hosts.front();
  constexpr std::size_t kMostComplaints = 8;
  for (std::size_t i = 0; i < std::min(space.complaints.size(), kMostComplaints); ++i)
    trace.losses.push_back(
        {"profiler_complaint", "doubt", "The profiler reports: " + plain(space.complaints[i]), 1});
}

/// Recognises a profile by the file's name, or by the name of its first plane.
bool is_xplane(const Probe& probe) {
  if (probe.begins_with("\x1f\x8b") || probe.begins_with("PK")) return false;
  if (probe.ends_in(".xplane.pb") || probe.ends_in(".xplane.pb.gz")) return true;
  // XSpace begins with its first plane, and a plane with its number or its name.
  std::string_view head = probe.head;
  auto skip_varint_field = [&] {
    std::size_t at = 1;
    while (at < head.size() && at < 11 && (head[at] & 0x80)) ++at;
    head.remove_prefix(std::min(head.size(), at + 1));
  };
  if (!head.starts_with('\x0a')) return false;
  skip_varint_field();  // the plane's length
  if (head.starts_with('\x08')) skip_varint_field();
  if (!head.starts_with('\x12') || head.size() < 2) return false;
  head.remove_prefix(2);
  return head.starts_with("/host:") || head.starts_with("/device:");
}

Trace load_plain(const std::filesystem::path& path, const LoadOptions& options) {
  return load_xplane([&] { return open_plain(path); }, path, options);
}

}  // namespace

extern const Importer kXplane = {"the .xplane.pb of JAX's or TensorFlow's profiler", is_xplane,
                                 load_plain};

Trace load_xplane(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options) {
  std::string name = path.string();
  std::string bytes = read_all(*open(), name, options);
  Space space = parse(bytes, name);
  bool any = std::any_of(space.planes.begin(), space.planes.end(), [](const Plane& plane) {
    return plane.name.starts_with("/host:") || plane.name.starts_with("/device:");
  });
  if (!any)
    fail_input(
        "{}: contains no host or device plane; expected the .xplane.pb of jax.profiler or the "
        "TensorFlow profiler.",
        name);
  if (options.progress) options.progress(0.5);
  Trace trace;
  trace.path = name;
  load_detail::Assembly assembly(trace, load_detail::thread_count(options.threads));
  try {
    Building building(assembly, space);
    add_facts(building, space);
    add_device_planes(building);
    add_host_planes(building);
    if (options.progress) options.progress(0.9);
    trace.complete = true;
    building.finish();
  } catch (const WireFault& fault) {
    fail_input(
        "{}: byte {} of {}: {}. The profile is cut or damaged: copy the file again or record "
        "again.",
        name, fault.offset, bytes.size(), fault.what);
  }
  if (options.progress) options.progress(1);
  return trace;
}

}  // namespace headway::trace::import_detail
