// SPDX-License-Identifier: MIT
#include "tests/targets/fake_cuda/streams.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>

#include "tests/targets/fake_cuda/run_kernel.h"

namespace emulator {

std::recursive_mutex g_mutex;

namespace {

std::vector<Stream*> g_streams;
std::condition_variable_any g_free;  ///< a stream is no longer busy

void run(const KernelLaunch& launch) {
  run_kernel(*launch.kernel, {launch.grid[0], launch.grid[1], launch.grid[2]}, launch.threads,
             launch.parameters.data());
}

/// The oldest piece of work of a stream; or waits for the thread that runs one.
void run_one(Stream& stream) {
  if (stream.busy) return g_free.wait(g_mutex);
  Stream::Piece piece = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (piece.for_host) {
    stream.busy = true;
    g_mutex.unlock();
    piece.work();
    g_mutex.lock();
    stream.busy = false;
    g_free.notify_all();
  } else if (piece.work) {
    piece.work();
  } else {
    run_until(piece.wait);
  }
  ++stream.done;
}

void queue_piece(Stream* stream, Stream::Piece piece) {
  stream->queue.push_back(std::move(piece));
  ++stream->queued;
  if (!lazy()) run_until(end_of(stream));
}

}  // namespace

bool lazy() {
  static const bool kLazy = std::getenv("FAKE_CUDA_LAZY") != nullptr;
  return kLazy;
}

bool capturing() {
  return std::ranges::any_of(g_streams, [](const Stream* stream) { return stream->capture; });
}

void queue_work(Stream* stream, Work work) {
  if (!stream) return work();
  if (stream->capture) {
    stream->capture->nodes.push_back(std::make_unique<Node>(Node{{}, std::move(work)}));
    return;
  }
  queue_piece(stream, {std::move(work), {}});
}

void queue_host_function(Stream* stream, Work work) {
  queue_piece(stream, {std::move(work), {}, true});
}

void queue_launch(Stream* stream, KernelLaunch launch) {
  if (stream && stream->capture) {
    stream->capture->nodes.push_back(std::make_unique<Node>(Node{std::move(launch), {}}));
    return;
  }
  queue_work(stream, [launch = std::move(launch)] { run(launch); });
}

void queue_wait(Stream* stream, const Point& point) {
  queue_piece(stream, {{}, point});
}

Point end_of(Stream* stream) {
  return {stream, stream ? stream->queued : 0};
}

bool passed(const Point& point) {
  return !point.stream || point.stream->done >= point.position;
}

void run_until(const Point& point) {
  while (!passed(point)) run_one(*point.stream);
}

void run_some(Stream& stream) {
  if (!stream.busy && !stream.queue.empty() && !stream.queue.front().for_host) run_one(stream);
}

void run_all() {
  for (Stream* stream : g_streams) run_until(end_of(stream));
}

Stream* make_stream() {
  return g_streams.emplace_back(new Stream);
}

void drop_stream(Stream* stream) {
  run_until(end_of(stream));
  std::erase(g_streams, stream);
  delete stream;
}

}  // namespace emulator
