// SPDX-License-Identifier: MIT
// The contract of devices/device.h on the CUDA device, and what compiled graphs keep.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "common/error.h"
#include "kernels/cast/op.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/train/build_model.h"
#include "tests/reference_trainer/cuda/both_devices.h"

namespace headway::trainer {

TEST_CASE("memory of every kind starts as zero, and copies go between all of them") {
  const auto device = open_cuda_device({});
  const StreamId stream = device->create_stream("copies");
  const Memory on_gpu = device->allocate(4096, MemoryKind::kDevice);
  const Memory pinned = device->allocate(4096, MemoryKind::kPinned);
  const Memory pageable = device->allocate(4096, MemoryKind::kPageable);
  std::memset(pinned.as<char>(), 1, 4096);
  device->copy_blocking(stream, pinned.view(), on_gpu.view(), 4096, 0);
  for (int i = 0; i < 4096; ++i) CHECK(pinned.as<char>()[i] == 0);
  for (int i = 0; i < 4096; ++i) pageable.as<char>()[i] = static_cast<char>(i * 7);
  device->copy(stream, on_gpu.view(), pageable.view(), 4096, 0);
  const Memory second = device->allocate(4096, MemoryKind::kDevice);
  device->copy(stream, second.view(), on_gpu.view(), 4096, 0);
  device->copy(stream, pinned.view(), second.view(), 4096, 0);
  device->synchronize(stream);
  CHECK(std::memcmp(pinned.as<char>(), pageable.as<char>(), 4096) == 0);
}

TEST_CASE("an event is a point in a stream, however many come after it") {
  const auto device = open_cuda_device({});
  const StreamId stream = device->create_stream("one");
  const StreamId other = device->create_stream("other");
  CHECK(device->done(Event{}));
  const Event first = device->record(stream);
  Event last;
  for (int i = 0; i < 1000; ++i) last = device->record(stream);
  device->wait(other, first);
  device->wait(other, last);
  device->synchronize(first);
  device->synchronize(last);
  CHECK(device->done(first));
  CHECK(device->done(last));
}

TEST_CASE(
    "a call returns before its work is done: pinned memory is written when the stream gets there") {
  const char* late = std::getenv("FAKE_CUDA_LAZY");
  if (!late) return;  // on a GPU it may be over at once, and the emulation does it at once
  const auto device = open_cuda_device({});
  const StreamId stream = device->create_stream("one");
  const Memory on_gpu = device->allocate(64, MemoryKind::kDevice);
  const Memory pinned = device->allocate(64, MemoryKind::kPinned);
  pinned.as<int>()[0] = 7;
  device->copy(stream, pinned.view(), on_gpu.view(), 64, 0);
  const Event copied = device->record(stream);
  CHECK(pinned.as<int>()[0] == 7);
  CHECK_FALSE(device->done(copied));
  device->synchronize(copied);
  CHECK(pinned.as<int>()[0] == 0);
}

namespace {

/// Writes and reads every parameter of a small model of that precision.
void check_write_and_read(Precision precision, kernels::NumberFormat format,
                          const std::vector<float>& some) {
  Settings settings;
  settings.model = ModelKind::kTransformer;
  settings.data = DataKind::kGenerated;
  settings.layers = settings.heads = 1;
  settings.features = settings.sequence = 8;
  settings.batch = 2;
  settings.threads = 1;
  settings.precision = precision;
  std::string note;
  DataSetup data(
      settings, [](auto, auto) {}, note);
  GradientSync::Pairs pairs;
  const Model model = build_training_model(settings, data.data(), pairs);
  const auto device = open_cuda_device({});
  const auto compiled = device->compile(model.graph, {});
  for (ValueId id : model.graph.parameters()) {
    const Value& value = model.graph.value(id);
    CAPTURE(value.name);
    const bool matrix = value.shape.rank() >= 2;
    CHECK(compiled->memory_size(id) == value.shape.elements() * (matrix ? 2 : 4));
    std::vector<float> values(static_cast<std::size_t>(value.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = some[i % some.size()];
    compiled->write(id, values);
    if (matrix) kernels::round_to(format, value.shape.elements(), values.data(), values.data());
    CHECK(compiled->read(id) == values);
  }
}

}  // namespace

TEST_CASE("a value is read as it was written, rounded to the format it lies in") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.0F,     -0.0F,     1.0F,      -1.001F,   0.1F,    65504.0F,
                                     65519.0F, -65520.0F, 6.1e-5F,   -6.0e-5F,  5.9e-8F, 2.0e-8F,
                                     -1.0e-9F, 3.0e38F,   kInfinity, -kInfinity};
  check_write_and_read(Precision::kBf16, kernels::NumberFormat::kBfloat16, values);
  check_write_and_read(Precision::kAmpO2, kernels::NumberFormat::kFloat16, values);
}

TEST_CASE("an op that the device does not have is refused by name, with the device that has it") {
  Graph graph;
  Value x;
  x.name = "x";
  x.shape = {2, 8};
  x.role = Role::kInput;
  const OpDefinition unknown{"fold_space", "x -> y",
                             [](const Graph&, const Node&) { return Work{}; }};
  const ValueId in = graph.add_value(x);
  x.name = "y";
  x.role = Role::kActivation;
  const ValueId out = graph.add_value(x);
  graph.add_node({&unknown, "model.fold", Phase::kForward, NodeId::none(), {in}, {out}, {}});
  const auto device = open_cuda_device({});
  CHECK_THROWS_WITH(device->compile(graph, {}),
                    "Op 'model.fold' (fold_space): the cuda device cannot run it: it has no kernel "
                    "for this op yet. The host device can (--device host).");
}

}  // namespace headway::trainer
