// SPDX-License-Identifier: MIT
// The recorder's reading side against memory of any content: nothing is read outside of it, nothing
// crashes, what was good before is kept.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "collector/record/drain.h"
#include "collector/record/trace_assembler.h"
#include "collector/wire/definition.h"
#include "collector/wire/record.h"
#include "tests/collector/run_recorder.h"

namespace headway::record {
namespace {

constexpr std::uint32_t kLayout = 2;

/// Memory as a process would hand it over, written to directly.
struct FakeProcess {
  FakeProcess() {
    const wire::Layout& layout = wire::kLayouts[kLayout];
    bytes = wire::segment_bytes(layout);
    memory = FileDescriptor(::memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(bytes)) == 0);
    REQUIRE(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    base = static_cast<std::byte*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0));
    header().magic = wire::kMagic;
    header().version = wire::kVersion;
    header().layout = kLayout;
  }
  ~FakeProcess() { ::munmap(base, bytes); }

  wire::SegmentHeader& header() { return *reinterpret_cast<wire::SegmentHeader*>(base); }
  wire::RingControl& control(std::uint32_t ring) {
    return reinterpret_cast<wire::RingControl*>(base + wire::kControlOffset)[ring];
  }
  std::byte* ring_data(std::uint32_t ring) {
    return base + wire::ring_place(wire::kLayouts[kLayout], ring).offset;
  }
  void put(std::uint32_t ring, wire::RecordType type, std::uint64_t value = 0,
           std::string_view text = {}) {
    wire::Record record{};
    record.time = static_cast<std::uint64_t>(read_clocks().realtime_ns);
    record.type = static_cast<std::uint8_t>(type);
    record.value = value;
    record.text = static_cast<std::uint32_t>(text.size());
    record.flags = text.empty() ? 0 : wire::kTextInline;
    record.extra_units = static_cast<std::uint16_t>(wire::units_for(wire::padded(record.text)));
    std::uint64_t units = wire::ring_place(wire::kLayouts[kLayout], ring).units;
    std::uint64_t head = control(ring).head;
    std::vector<std::byte> all((1u + record.extra_units) * wire::kUnit);
    std::memcpy(all.data(), &record, sizeof record);
    if (!text.empty()) std::memcpy(all.data() + sizeof record, text.data(), text.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      ring_data(ring)[(head * wire::kUnit + i) % (units * wire::kUnit)] = all[i];
    control(ring).head = head + 1 + record.extra_units;
    if (header().rings_used <= ring) header().rings_used = ring + 1;
  }

  FileDescriptor memory;
  std::size_t bytes;
  std::byte* base;
};

/// Reader, decoder and trace in one thread.
struct Pipeline {
  explicit Pipeline(FakeProcess& process)
      : sink(folder / "run.sqlite", false),
        assembler(sink, read_clocks(), wire::Clock::kRealtime, scope, progress,
                  [this](SegmentId) { set_aside = true; }) {
    std::string why_not;
    segment->id = 1;
    segment->reader = SegmentReader::map(process.memory, kLayout, why_not);
    REQUIRE_MESSAGE(segment->reader, why_not);
    queue.send(SegmentAdded{1, 42});
  }
  /// Everything that is there now, to the end of the recording.
  void finish() {
    Drain drain(queue);
    drain.add(segment);
    drain.finish();
    drain.run();
    queue.close();
    assembler.run(queue);
    assembler.finish();
    sink.finish();
  }
  std::filesystem::path trace() const { return folder / "run.sqlite"; }

  test::TemporaryFolder folder;
  TraceSink sink;
  Progress progress;
  bool set_aside = false;
  Scope scope{ScopeOptions()};
  TraceAssembler assembler;
  MessageQueue queue;
  std::shared_ptr<LiveSegment> segment = std::make_shared<LiveSegment>();
};

void put_good_events(FakeProcess& process) {
  process.put(0, wire::RecordType::kThreadBegin, 43);
  for (int i = 0; i < 10; ++i) {
    process.put(0, wire::RecordType::kPush, 0, "good");
    process.put(0, wire::RecordType::kPop);
  }
}

}  // namespace

TEST_CASE("records in shared memory become rows") {
  FakeProcess process;
  Pipeline pipeline(process);
  put_good_events(process);
  pipeline.finish();
  CHECK(test::ranges(pipeline.trace(), "good") == 10);
  CHECK(!pipeline.set_aside);
}

TEST_CASE("damage of each kind is counted, and what came before it is kept") {
  using Damage = void (*)(FakeProcess&);
  const Damage kDamages[] = {
      [](FakeProcess& p) { p.put(0, static_cast<wire::RecordType>(99)); },
      [](FakeProcess& p) { p.put(0, wire::RecordType::kPop); },
      [](FakeProcess& p) { p.put(1, wire::RecordType::kPush, 0, "no thread"); },
      [](FakeProcess& p) {  // a record that says it is longer than what is there
        p.put(0, wire::RecordType::kMark);
        auto* record = reinterpret_cast<wire::Record*>(p.ring_data(0)) + p.control(0).head - 1;
        record->extra_units = 500;
      },
      [](FakeProcess& p) {  // of the year 1970
        p.put(0, wire::RecordType::kMark);
        reinterpret_cast<wire::Record*>(p.ring_data(0))[p.control(0).head - 1].time = 5;
      },
      [](FakeProcess& p) {  // an unknown domain
        p.put(0, wire::RecordType::kMark);
        reinterpret_cast<wire::Record*>(p.ring_data(0))[p.control(0).head - 1].domain = 17;
      },
      [](FakeProcess& p) {  // a definition of no size
        p.header().definitions_end = 32;
      },
  };
  for (std::size_t i = 0; i < std::size(kDamages); ++i) {
    CAPTURE(i);
    FakeProcess process;
    Pipeline pipeline(process);
    put_good_events(process);
    pipeline.segment->reader->snapshot();
    SegmentRound round{1, read_clocks(), {}, {}, false, false};
    bool complete = false;
    pipeline.segment->reader->take(round.data, 1 << 20, false, complete);
    pipeline.queue.send(std::move(round));
    kDamages[i](process);
    pipeline.finish();
    CHECK(test::ranges(pipeline.trace(), "good") == 10);
    CHECK(test::loss(pipeline.trace(), "shared_memory_corrupt") == 1);
    CHECK(pipeline.set_aside);
    CHECK(test::intact(pipeline.trace()));
  }
}

TEST_CASE("any content of activity buffers is safe, and the trace stays intact") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    FakeProcess process;
    Pipeline pipeline(process);
    put_good_events(process);
    auto& area = *reinterpret_cast<wire::ActivityArea*>(process.base + wire::kActivityOffset);
    const wire::Layout& layout = wire::kLayouts[kLayout];
    constexpr std::uint32_t kKinds[] = {0, 1, 2, 4, 5, 8, 9, 10, 17, 22, 36, 37, 38, 51, 63, 64};
    for (auto& stride : area.stride)
      stride = round % 3 == 0 ? static_cast<std::uint16_t>(random())
                              : static_cast<std::uint16_t>(random() % 32 * 8);
    for (std::uint32_t i = 0; i < 3; ++i) {
      std::byte* memory =
          process.base + wire::activity_offset(layout) + std::uint64_t{i} * layout.activity.bytes;
      for (std::uint32_t at = 0; at < layout.activity.bytes; at += 8) {
        std::uint32_t words[2] = {kKinds[random() % std::size(kKinds)],
                                  static_cast<std::uint32_t>(random())};
        if (random() % 4 == 0) words[0] = static_cast<std::uint32_t>(random());
        std::memcpy(memory + at, words, sizeof words);
      }
      area.slots[i].valid_bytes = random() % 5 == 0 ? UINT64_MAX : random() % 100'000;
      area.slots[i].order = random();
      area.slots[i].state = static_cast<wire::SlotState>(random() % 4);
    }
    pipeline.finish();
    CHECK(test::ranges(pipeline.trace(), "good") == 10);
    CHECK(test::intact(pipeline.trace()));
  }
}

TEST_CASE("heads and ends beyond the memory are refused") {
  using Damage = void (*)(FakeProcess&);
  const Damage kDamages[] = {
      [](FakeProcess& p) { p.control(0).head = UINT64_MAX; },
      [](FakeProcess& p) { p.control(0).head = 1u << 20; },
      [](FakeProcess& p) { p.header().rings_used = 100'000; },
      [](FakeProcess& p) { p.header().definitions_end = UINT64_MAX; },
      [](FakeProcess& p) { p.header().definitions_end = 100u << 20; },
  };
  for (std::size_t i = 0; i < std::size(kDamages); ++i) {
    CAPTURE(i);
    FakeProcess process;
    Pipeline pipeline(process);
    put_good_events(process);
    kDamages[i](process);
    pipeline.finish();
    CHECK(test::loss(pipeline.trace(), "shared_memory_corrupt") == 1);
  }
}

TEST_CASE("memory that is not of the agreed kind is refused") {
  std::string why_not;
  CHECK(!SegmentReader::map(FileDescriptor(), 0, why_not));
  FakeProcess process;
  CHECK(!SegmentReader::map(process.memory, 0, why_not));   // another size
  CHECK(!SegmentReader::map(process.memory, 99, why_not));  // no such layout
  CHECK(!SegmentReader::map(FileDescriptor(::open("/dev/zero", O_RDWR)), kLayout, why_not));
  FileDescriptor unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(unsealed.get(), static_cast<off_t>(process.bytes)) == 0);
  CHECK(!SegmentReader::map(unsealed, kLayout, why_not));  // could shrink under the reader
  process.header().magic = 0;
  CHECK(!SegmentReader::map(process.memory, kLayout, why_not));
}

TEST_CASE("memory scribbled over at random never harms the recorder") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    FakeProcess process;
    Pipeline pipeline(process);
    put_good_events(process);
    const wire::Layout& layout = wire::kLayouts[kLayout];
    process.header().definitions_end = 8 * (random() % 512);
    process.header().rings_used = static_cast<std::uint32_t>(1 + random() % 4);
    process.control(1).head = random() % 3000;
    process.control(2).head = random() % 3000;
    const std::uint64_t places[] = {0, wire::kControlOffset, wire::definitions_offset(layout),
                                    wire::ring_place(layout, 0).offset,
                                    wire::ring_place(layout, 1).offset};
    for (int i = 0; i < 200; ++i) {
      std::uint64_t at = places[random() % std::size(places)] + random() % 2048;
      // Mostly small numbers, which get further than noise does.
      process.base[at] = std::byte(random() % 3 ? random() % 12 : random());
    }
    pipeline.finish();
    CHECK(test::intact(pipeline.trace()));
    CHECK(test::meta(pipeline.trace(), "state") == "complete");
  }
}

TEST_CASE("ends of ranges that never began are counted, however many") {
  FakeProcess process;
  Pipeline pipeline(process);
  Drain drain(pipeline.queue);
  drain.add(pipeline.segment);
  process.put(0, wire::RecordType::kThreadBegin, 43);
  constexpr int kEnds = 70'000;  // more than are kept in case their starts are still to come
  std::thread draining([&] { drain.run(); });
  for (int i = 0; i < kEnds; ++i) {
    while (process.control(0).head - process.control(0).tail > 1000) std::this_thread::yield();
    process.put(0, wire::RecordType::kEnd, 1000 + static_cast<std::uint64_t>(i));
  }
  drain.finish();
  draining.join();
  pipeline.queue.close();
  pipeline.assembler.run(pipeline.queue);
  pipeline.assembler.finish();
  pipeline.sink.finish();
  CHECK(test::loss(pipeline.trace(), "nvtx_pop_without_push") == kEnds);
}

TEST_CASE("when the writer of the trace has died, the drain still ends") {
  FakeProcess process;
  Pipeline pipeline(process);
  pipeline.queue.send(SegmentAdded{2, 42}, Drain::kMaxQueued);  // no room for anything more
  put_good_events(process);
  Drain drain(pipeline.queue);
  drain.add(pipeline.segment);
  drain.finish();
  std::thread draining([&] { drain.run(); });
  pipeline.queue.abandon();
  draining.join();
  CHECK(pipeline.queue.bytes() == 0);
}

}  // namespace headway::record
