// SPDX-License-Identifier: MIT
// The inventory of a snapshot: processes, threads, devices and all other data that is not a column.
#include <sys/stat.h>
#include <zlib.h>

#include "common/archive.h"
#include "trace/snapshot/format.h"

namespace headway {

template <class A, class Tag, class Rep>
void archive(A& a, Id<Tag, Rep>& id) {
  a(id.value);
}
template <class A>
void archive(A& a, TimeNs& time) {
  a(time.ns);
}

}  // namespace headway

namespace headway::trace {
namespace {

template <class A, class T>
void archive_optional(A& a, std::optional<T>& value) {
  bool has = value.has_value();
  a(has);
  if (!has) return value.reset();
  if (!value) value.emplace();
  a(*value);
}

}  // namespace

template <class A>
void archive(A& a, Process& p) {
  a(p.global_pid, p.pid, p.parent_pid, p.rank, p.name, p.command_line, p.start, p.injected);
  archive_optional(a, p.end);
  archive_optional(a, p.exit_code);
  archive_optional(a, p.signal);
}
template <class A>
void archive(A& a, Thread& t) {
  a(t.global_tid, t.tid, t.process, t.name);
}
template <class A>
void archive(A& a, Device& d) {
  a(d.type, d.ordinal, d.process, d.cores, d.compute_major, d.compute_minor, d.memory_bytes,
    d.memory_bytes_per_second, d.max_clock_hz, d.name);
}
template <class A>
void archive(A& a, Stream& s) {
  a(s.device, s.process, s.ordinal, s.name);
}
template <class A>
void archive(A& a, CounterSeries& c) {
  a(c.name, c.unit, c.description, c.process);
  archive_optional(a, c.device);
}
template <class A>
void archive(A& a, GraphOp& g) {
  a(g.process, g.op, g.forward_op, g.phase, g.name, g.type, g.shape, g.inputs, g.flops, g.bytes,
    g.output_bytes);
}
template <class A>
void archive(A& a, LossCount& l) {
  a(l.name, l.severity, l.text, l.count);
}
struct Entry {
  std::string name;
  std::string value;
};
template <class A>
void archive(A& a, Entry& entry) {
  a(entry.name, entry.value);
}
template <class A>
void archive(A& a, SnapshotKey& key) {
  a(key.path, key.bytes, key.modified_ns, key.inode, key.device);
}

namespace snapshot_detail {
namespace {

template <class A>
void archive_trace(A& a, Trace& t, std::vector<Entry>& meta, std::vector<Entry>& settings,
                   SnapshotKey& key) {
  a(key, t.path, meta, t.start_utc_ns, t.end, t.complete, t.world_size, t.processes, t.threads,
    t.devices, t.streams, t.domains, t.counters, t.graph_ops, settings, t.losses);
}

template <class Pairs>
std::vector<Entry> entries_of(const Pairs& pairs) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : pairs) entries.push_back({name, value});
  return entries;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes, std::uint32_t before) {
  uLong crc = before;
  while (!bytes.empty()) {  // zlib counts in 32 bits
    std::string_view part = bytes.substr(0, std::size_t{1} << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    bytes.remove_prefix(part.size());
  }
  return static_cast<std::uint32_t>(crc);
}

std::uint32_t checksum_of(const Header& header, const std::vector<Section>& table) {
  Header zeroed = header;
  zeroed.checksum = 0;
  std::uint32_t crc = checksum({reinterpret_cast<const char*>(&zeroed), sizeof zeroed});
  return checksum({reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Section)},
                  crc);
}

std::string archive_inventory(const Trace& trace, const SnapshotKey& key) {
  ByteWriter writer;
  std::vector<Entry> meta = entries_of(trace.meta);
  std::vector<Entry> settings = entries_of(trace.settings);
  SnapshotKey copy = key;
  archive_trace(writer, const_cast<Trace&>(trace), meta, settings, copy);  // a writer only reads
  return writer.take();
}

void restore_inventory(std::string_view bytes, Trace& trace, SnapshotKey& key) {
  ByteReader reader(bytes);
  std::vector<Entry> meta;
  std::vector<Entry> settings;
  archive_trace(reader, trace, meta, settings, key);
  if (!reader.at_end()) fail_internal("there are bytes after the inventory");
  for (Entry& entry : meta) trace.meta.emplace(std::move(entry.name), std::move(entry.value));
  for (Entry& entry : settings)
    trace.settings.emplace_back(std::move(entry.name), std::move(entry.value));
}

}  // namespace snapshot_detail

std::optional<SnapshotKey> snapshot_key(const std::filesystem::path& path) {
  struct stat info {};
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return SnapshotKey{absolute.lexically_normal().string(), info.st_size,
                     info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_ino,
                     info.st_dev};
}

}  // namespace headway::trace
