// SPDX-License-Identifier: MIT
// The recorder's end of a process's shared memory, with a hostile process at the other: any content at any
// moment gives a trace and never a crash, a hang or a read outside of the memory. The input is a script of
// what the process writes, round by round; its first byte chooses the scope of the recording, so that what
// looks through the records beforehand is reached, too.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "collector/record/trace_assembler.h"
#include "collector/wire/activity.h"
#include "collector/wire/definition.h"
#include "collector/wire/record.h"
#include "tests/fuzz/target.h"

namespace headway::record {
namespace {

constexpr std::uint32_t kLayoutNumber = 2;  // the smallest
const wire::Layout& layout() {
  return wire::kLayouts[kLayoutNumber];
}

/// Takes numbers off the input; at its end they are 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  template <class Number>
  Number take() {
    Number value{};
    const std::size_t bytes = std::min(sizeof value, rest_.size());
    if (bytes) std::memcpy(&value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  /// Length, then so many bytes.
  std::span<const std::uint8_t> block() {
    const std::size_t wanted = take<std::uint16_t>();  // before rest_ is looked at
    const std::size_t bytes = std::min(wanted, rest_.size());
    std::span<const std::uint8_t> result = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return result;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// The memory, the same for all inputs, cleared in between.
class HostileProcess {
 public:
  HostileProcess()
      : bytes_(wire::segment_bytes(layout())),
        memory_(::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (::ftruncate(memory_.get(), static_cast<off_t>(bytes_)) != 0 ||
        ::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
      std::abort();
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0));
    if (base_ == MAP_FAILED) std::abort();
  }
  HostileProcess(const HostileProcess&) = delete;
  HostileProcess& operator=(const HostileProcess&) = delete;

  void clear() {
    if (::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    static_cast<off_t>(bytes_)) != 0)
      std::abort();
    header().magic = wire::kMagic;
    header().version = wire::kVersion;
    header().layout = kLayoutNumber;
  }
  const FileDescriptor& memory() const { return memory_; }

  /// One write of the script; false: a round of the recorder comes first.
  bool act(Input& input) {
    switch (input.take<std::uint8_t>() % 9) {
      case 0:
        return false;
      case 1:  // anything into the log of definitions
        add_definitions(input.block());
        return true;
      case 2:
        define(input);
        return true;
      case 3: {  // anything into a ring
        const std::uint32_t ring = ring_of(input);
        add_records(ring, input.block());
        return true;
      }
      case 4:
        put_record(input);
        return true;
      case 5: {  // a number of the header
        auto at = input.take<std::uint8_t>() % (sizeof(wire::SegmentHeader) / 4);
        write(at * 4, input.take<std::uint32_t>());
        return true;
      }
      case 6: {  // a number of a ring's state
        const std::uint64_t at = wire::kControlOffset + ring_of(input) * sizeof(wire::RingControl) +
                                 input.take<std::uint8_t>() % (sizeof(wire::RingControl) / 8) * 8;
        write(at, input.take<std::uint64_t>());
        return true;
      }
      case 7:
        fill_slot(input);
        return true;
      default:
        area().stride[input.take<std::uint8_t>() % wire::kActivityKinds] =
            input.take<std::uint16_t>();
        return true;
    }
  }

 private:
  wire::SegmentHeader& header() { return *reinterpret_cast<wire::SegmentHeader*>(base_); }
  wire::RingControl& control(std::uint32_t ring) {
    return reinterpret_cast<wire::RingControl*>(base_ + wire::kControlOffset)[ring];
  }
  wire::ActivityArea& area() {
    return *reinterpret_cast<wire::ActivityArea*>(base_ + wire::kActivityOffset);
  }
  static std::uint32_t ring_of(Input& input) {
    return input.take<std::uint8_t>() % wire::ring_count(layout());
  }
  template <class Number>
  void write(std::uint64_t at, Number value) {
    std::memcpy(base_ + at, &value, sizeof value);
  }

  void add_definitions(std::span<const std::uint8_t> content) {
    const std::uint64_t end = header().definitions_end;
    if (end > layout().definition_bytes || content.size() > layout().definition_bytes - end) return;
    if (!content.empty())
      std::memcpy(base_ + wire::definitions_offset(layout()) + end, content.data(), content.size());
    header().definitions_end = end + content.size();
  }
  /// An entry that is well-formed as far as its header goes.
  void define(Input& input) {
    wire::DefinitionHeader entry{};
    entry.type = input.take<std::uint8_t>() % 12;
    entry.domain = input.take<std::uint8_t>();
    entry.id = input.take<std::uint8_t>() * (input.take<std::uint8_t>() % 2 ? 1u : 1u << 24);
    const std::span<const std::uint8_t> content = input.block();
    alignas(8) std::byte body[70'000];
    wire::DefinitionWriter writer(body, sizeof body);
    if (entry.type == static_cast<std::uint16_t>(wire::DefinitionType::kSchema)) {
      writer.bytes(content.data(), content.size());
      writer.pad();
    } else {
      writer.text({reinterpret_cast<const char*>(content.data()), content.size()});
    }
    entry.bytes = static_cast<std::uint32_t>(sizeof entry + writer.size());
    add_definitions({reinterpret_cast<const std::uint8_t*>(&entry), sizeof entry});
    add_definitions({reinterpret_cast<const std::uint8_t*>(body), writer.size()});
  }

  void add_records(std::uint32_t ring, std::span<const std::uint8_t> content) {
    const wire::RingPlace place = wire::ring_place(layout(), ring);
    const std::uint64_t head = control(ring).head;
    for (std::size_t i = 0; i < content.size(); ++i)
      base_[place.offset + (head * wire::kUnit + i) % (place.units * wire::kUnit)] =
          std::byte{content[i]};
    control(ring).head = head + (content.size() + wire::kUnit - 1) / wire::kUnit;
    if (header().rings_used <= ring) header().rings_used = ring + 1;
  }
  /// A record of the present, as far as its first fields go.
  void put_record(Input& input) {
    const std::uint32_t ring = ring_of(input);
    wire::Record record{};
    record.time = static_cast<std::uint64_t>(read_clocks().realtime_ns);
    record.type = input.take<std::uint8_t>() % 11;
    record.flags = input.take<std::uint8_t>();
    record.domain = input.take<std::uint8_t>() % 4;
    record.category = input.take<std::uint16_t>();
    record.color = input.take<std::uint8_t>();
    record.value = input.take<std::uint8_t>();
    std::span<const std::uint8_t> content = input.block();
    record.text = input.take<std::uint8_t>() % 2 ? static_cast<std::uint32_t>(content.size())
                                                 : input.take<std::uint32_t>();
    record.extra_units =
        static_cast<std::uint16_t>(wire::units_for(static_cast<std::uint32_t>(content.size())));
    add_records(ring, {reinterpret_cast<const std::uint8_t*>(&record), sizeof record});
    add_records(ring, content);
  }

  void fill_slot(Input& input) {
    const std::uint32_t slot = input.take<std::uint8_t>() % layout().activity.count;
    wire::ActivitySlot& control = area().slots[slot];
    control.valid_bytes = input.take<std::uint32_t>();
    control.order = input.take<std::uint8_t>();
    const bool times = input.take<std::uint8_t>() % 2;
    const auto state = static_cast<wire::SlotState>(input.take<std::uint8_t>() % 3);
    const std::span<const std::uint8_t> content = input.block();
    std::byte* at =
        base_ + wire::activity_offset(layout()) + std::uint64_t{slot} * layout().activity.bytes;
    if (!content.empty()) std::memcpy(at, content.data(), content.size());
    // Of the present, where most kinds have them.
    const auto now = static_cast<std::uint64_t>(read_clocks().realtime_ns);
    for (const std::size_t place : {8u, 16u}) {
      if (times && content.size() >= 32) std::memcpy(at + place, &now, sizeof now);
    }
    control.state = state;
  }

  std::size_t bytes_;
  FileDescriptor memory_;
  std::byte* base_;
};

ScopeOptions scope_of(std::uint8_t choice) {
  ScopeTexts texts;
  switch (choice % 6) {
    case 1:
      texts.steps = "1:3";
      break;
    case 2:
      texts.sample_steps = "1:2";
      break;
    case 3:
      texts.capture_range = "nvtx:r*";
      break;
    case 4:
      texts.ring = "10";
      break;
    case 5:
      texts.capture_range = "cuda-profiler";
      break;
    default:
      break;
  }
  return parse_scope(texts);
}

/// The trace that many inputs go to: making a file for each would take most of the time.
TraceSink& sink() {
  // Never destroyed: at exit, what it writes with is gone.
  static auto& current = *new std::optional<TraceSink>;
  static int uses = 0;
  static const std::string& path = test::file_of(nullptr, 0);
  if (!current || ++uses % 2000 == 0) {
    if (current) current->finish();
    current.emplace(path, true);
  }
  return *current;
}

SegmentRound round_of(SegmentReader& reader, bool last) {
  SegmentRound round;
  round.segment = 1;
  round.damaged = !reader.snapshot();
  round.anchor = read_clocks();
  bool complete = false;
  if (!round.damaged) reader.take(round.data, 16u << 20, last, complete);
  round.counters = reader.counters();
  round.last = last || round.damaged;
  return round;
}

}  // namespace
}  // namespace headway::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway::record;
  static HostileProcess process;
  process.clear();
  Input input(data, size);
  std::string why_not;
  std::unique_ptr<SegmentReader> reader =
      SegmentReader::map(process.memory(), kLayoutNumber, why_not);
  if (!reader) std::abort();
  Scope scope(scope_of(input.take<std::uint8_t>()));
  Progress progress;
  bool set_aside = false;
  TraceAssembler assembler(sink(), read_clocks(), headway::wire::Clock::kRealtime, scope, progress,
                           [&](SegmentId) { set_aside = true; });
  MessageQueue queue;
  queue.send(SegmentAdded{1, 42});
  bool over = false;
  for (int rounds = 0; !over && rounds < 8; ++rounds) {
    while (!input.empty() && process.act(input)) {
    }
    SegmentRound round = round_of(*reader, input.empty());
    over = round.last;
    queue.send(std::move(round));
  }
  queue.close();
  assembler.run(queue);
  assembler.finish();
  headway::test::accepted += !set_aside;
  return 0;
}
