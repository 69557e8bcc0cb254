// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/host_device.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/error.h"

namespace headway::trainer {
namespace {

/// A kernel that holds its stream until it is let go.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> wait = opened.get_future().share();
  std::unique_ptr<Kernel> kernel;
  explicit Gate(HostDevice& device)
      : kernel(device.make_kernel("gate", [w = wait](const LaunchArguments&) { w.wait(); })) {}
  void open() { opened.set_value(); }
};

}  // namespace

TEST_CASE("a stream runs its work in order, whether threads sleep or poll") {
  bool poll = false;
  SUBCASE("asleep") {
    poll = false;
  }
  SUBCASE("polling") {
    poll = true;
  }
  HostDevice device({1, 0, 0, poll});
  const StreamId stream = device.create_stream("s");
  std::vector<int> order;
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (int i = 0; i < 3000; ++i) {  // more than the queue holds
    kernels.push_back(device.make_kernel("k", [&order, i](auto&) { order.push_back(i); }));
    device.launch(stream, *kernels.back(), {});
  }
  device.synchronize(stream);
  REQUIRE(order.size() == 3000);
  for (int i = 0; i < 3000; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a launch returns while the kernel still runs, and arguments reach it") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  Gate gate(device);
  int slot = -1;
  auto reader = device.make_kernel("reader", [&](const LaunchArguments& a) { slot = a.slot; });
  device.launch(stream, *gate.kernel, {});
  device.launch(stream, *reader, {.slot = 7});
  const Event after = device.record(stream);
  CHECK(!device.done(after));
  gate.open();
  device.synchronize(after);
  CHECK(device.done(after));
  CHECK(slot == 7);
}

TEST_CASE(
    "a recorded queue is submitted by one call and runs in order, each kernel with its arguments") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  std::vector<std::pair<int, int>> order;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<const Kernel*> all;
  for (int i = 0; i < 2000; ++i) {  // more than the queue has places
    kernels.push_back(device.make_kernel(
        "k", [&order, i](const LaunchArguments& a) { order.emplace_back(i, a.slot); }));
    all.push_back(kernels.back().get());
  }
  const auto recorded = device.join(stream, {}, all, {});
  Gate gate(device);
  device.launch(stream, *gate.kernel, {});
  device.launch(stream, *recorded, {.slot = 1});  // returns, though nothing has run
  device.launch(stream, *recorded, {.slot = 2});
  gate.open();
  device.synchronize(stream);
  REQUIRE(order.size() == 4000);
  for (int i = 0; i < 4000; ++i)
    CHECK(order[static_cast<std::size_t>(i)] == std::pair(i % 2000, 1 + i / 2000));
}

TEST_CASE("what fails in a recorded queue is told with its op, and what is behind it is left out") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  int ran = 0;
  const auto fine = device.make_kernel("fine", [&](auto&) { ++ran; });
  const auto bad =
      device.make_kernel("bad", [](auto&) { throw std::runtime_error("no such thing"); });
  const auto recorded = device.join(stream, {}, {fine.get(), bad.get(), fine.get()}, {});
  device.launch(stream, *recorded, {});
  CHECK_THROWS_WITH_AS(device.synchronize(stream), doctest::Contains("'bad'"), Error);
  CHECK(ran == 1);
}

TEST_CASE("a launch blocks when 1024 are outstanding") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  Gate gate(device);
  auto nothing = device.make_kernel("nothing", [](auto&) {});
  device.launch(stream, *gate.kernel, {});
  std::atomic<int> launched = 1;
  std::thread launcher([&] {
    for (int i = 0; i < 2000; ++i) {
      device.launch(stream, *nothing, {});
      ++launched;
    }
  });
  while (launched < 1024) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(launched == 1024);
  gate.open();
  launcher.join();
  device.synchronize();
  CHECK(launched == 2001);
}

TEST_CASE("a stream waits for an event of another stream") {
  HostDevice device({1, 0, 0});
  const StreamId producer = device.create_stream("producer");
  const StreamId consumer = device.create_stream("consumer");
  for (int round = 0; round < 200; ++round) {
    int made = 0;
    int seen = -1;
    auto make = device.make_kernel("make", [&](auto&) { made = round + 1; });
    auto use = device.make_kernel("use", [&](auto&) { seen = made; });
    device.launch(producer, *make, {});
    device.wait(consumer, device.record(producer));
    device.launch(consumer, *use, {});
    device.synchronize(consumer);
    CHECK(seen == round + 1);
  }
}

TEST_CASE("a wait is for the work before the record, not for later work") {
  HostDevice device({1, 0, 0});
  const StreamId a = device.create_stream("a");
  const StreamId b = device.create_stream("b");
  const Event early = device.record(a);
  Gate gate(device);
  device.launch(a, *gate.kernel, {});
  device.wait(b, early);
  device.wait(b, Event{});  // never recorded: nothing to wait for
  bool ran = false;
  auto run = device.make_kernel("run", [&](auto&) { ran = true; });
  device.launch(b, *run, {});
  device.synchronize(b);  // would hang if it waited for the gate
  CHECK(ran);
  CHECK(device.record(a).sync_id != early.sync_id);
  gate.open();
  device.synchronize();
}

TEST_CASE("copies move data both ways, and a blocking copy is done when it returns") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  const Memory on_device = device.allocate(4000, MemoryKind::kDevice);
  const Memory pinned = device.allocate(4000, MemoryKind::kPinned);
  for (int i = 0; i < 1000; ++i) pinned.as<int>()[i] = i;
  device.copy(stream, on_device.view(), pinned.view(), 4000, 0);
  std::vector<int> back(1000);
  device.copy_blocking(stream, {back.data(), MemoryKind::kPageable}, on_device.view(), 4000, 0);
  for (int i = 0; i < 1000; ++i) CHECK(back[static_cast<std::size_t>(i)] == i);
}

TEST_CASE(
    "an asynchronous copy from pinned memory does not block, from large pageable memory it does") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  constexpr std::int64_t kBytes = 1 << 20;
  const Memory target = device.allocate(kBytes, MemoryKind::kDevice);
  const Memory pinned = device.allocate(kBytes, MemoryKind::kPinned);
  std::vector<char> pageable(kBytes, 'p');
  Gate first(device);
  device.launch(stream, *first.kernel, {});
  device.copy(stream, target.view(), pinned.view(), kBytes, 0);  // returns with the gate closed
  std::vector<char> small(100, 's');
  device.copy(stream, target.view(), {small.data(), MemoryKind::kPageable}, 100, 0);  // staged
  std::ranges::fill(small, 'x');  // the source may change at once
  std::atomic<bool> returned = false;
  std::thread copier([&] {
    device.copy(stream, target.view(), {pageable.data(), MemoryKind::kPageable}, kBytes, 0);
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(!returned);
  first.open();
  copier.join();
  CHECK(returned);
  device.synchronize();
  CHECK(target.as<char>()[kBytes - 1] == 'p');
}

TEST_CASE("an emulated link and emulated memory slow their ops down") {
  HostDevice device({1, 10e6, 1e6});
  const StreamId stream = device.create_stream("s");
  const Memory target = device.allocate(100000, MemoryKind::kDevice);
  const Memory source = device.allocate(100000, MemoryKind::kPinned);
  const auto start = std::chrono::steady_clock::now();
  device.copy_blocking(stream, target.view(), source.view(), 100000, 0);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(10));
}

TEST_CASE("a failing kernel is reported with its name at a later call, and later work is skipped") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("compute");
  auto fails = device.make_kernel("conv2d layer1.0.conv1",
                                  [](auto&) { throw std::runtime_error("no such algorithm"); });
  bool ran = false;
  auto next = device.make_kernel("next", [&](auto&) { ran = true; });
  device.launch(stream, *fails, {});
  try {
    for (int i = 0; i < 3; ++i) device.launch(stream, *next, {});
    device.synchronize(stream);
    FAIL("no error arrived");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("conv2d layer1.0.conv1") != std::string::npos);
    CHECK(text.find("compute") != std::string::npos);
    CHECK(text.find("no such algorithm") != std::string::npos);
  }
  CHECK(!ran);
  CHECK_THROWS_AS(device.launch(stream, *next, {}), Error);
}

TEST_CASE("a device that goes away finishes its work, also when streams wait for each other") {
  std::atomic<int> ran = 0;
  std::vector<std::unique_ptr<Kernel>> kernels;
  {
    HostDevice device({1, 0, 0});
    const StreamId a = device.create_stream("a");
    const StreamId b = device.create_stream("b");
    for (int i = 0; i < 50; ++i) {
      kernels.push_back(device.make_kernel("slow", [&](auto&) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++ran;
      }));
      device.launch(i % 2 ? a : b, *kernels.back(), {});
      device.wait(i % 2 ? b : a, device.record(i % 2 ? a : b));
    }
  }
  CHECK(ran == 50);
}

TEST_CASE("memory is given back only when the work that may use it is done") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  std::atomic<bool> finished = false;
  auto kernel = device.make_kernel("slow", [&](auto&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    finished = true;
  });
  {
    const Memory memory = device.allocate(100, MemoryKind::kDevice);
    device.launch(stream, *kernel, {});
  }
  CHECK(finished);
}

TEST_CASE("many threads may wait for one stream") {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("s");
  auto nothing = device.make_kernel("nothing", [](auto&) {});
  std::vector<std::thread> waiters;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) device.launch(stream, *nothing, {});
    const Event event = device.record(stream);
    waiters.emplace_back([&device, event] { device.synchronize(event); });
  }
  for (std::thread& waiter : waiters) waiter.join();
  device.synchronize();
}

}  // namespace headway::trainer
