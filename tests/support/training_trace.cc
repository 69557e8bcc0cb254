// SPDX-License-Identifier: MIT
#include "tests/support/training_trace.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trace/tables/graph_op.h"

namespace headway::test {

using namespace trace;

namespace {

constexpr std::int32_t kTrainer = 1;
constexpr std::int32_t kFirstWorker = 11;
constexpr std::int32_t kCompute = 1;
constexpr std::int32_t kCopy = 2;
constexpr std::int64_t kBatchBytes = 6'422'528;
constexpr std::int64_t kBackward = 1000;  ///< added to an op's id for its backward op

struct GraphNode {
  std::int64_t op;
  std::string type;
  std::string name;
  std::int64_t duration;  ///< of its kernel, forward
  std::int64_t bytes;
  std::int64_t flops;
};

class Writer {
 public:
  Writer(const TrainingTrace& run, TraceBuilder& builder) : run_(run), builder_(builder) {}

  void write() {
    describe();
    make_batches();
    for (int step = 0; step < run_.steps; ++step) train(step);
    count();
  }

 private:
  /// `value` give or take `percent`; the same sequence on every machine.
  std::int64_t vary(std::int64_t value, int percent = 12) {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    std::int64_t part = static_cast<std::int64_t>(random_ >> 33) % (2 * percent + 1) - percent;
    return value + value * part / 100;
  }

  void node(std::string type, std::string name, std::int64_t duration, std::int64_t bytes,
            std::int64_t flops) {
    std::int64_t op = static_cast<std::int64_t>(graph_.size());
    builder_.graph_op(op, type, name, Phase::kForward, {std::max<std::int64_t>(0, op - 1)}, bytes,
                      bytes / 3);
    graph_.push_back({op, std::move(type), std::move(name), duration, bytes, flops});
  }

  /// The backward ops of what `node` has declared, as nodes of their own.
  void describe_backward() {
    for (const GraphNode& forward : graph_) {
      builder_.writer().add<tables::GraphOp>(
          {TraceBuilder::kGlobalPid, forward.op + kBackward, forward.op,
           static_cast<std::int32_t>(Phase::kBackward),
           builder_.writer().keep(forward.name + ".backward"),
           builder_.writer().keep(forward.type + "_backward"), "", "", 2 * forward.flops,
           2 * forward.bytes, forward.bytes / 3});
    }
  }

  void describe() {
    builder_.thread_name(kTrainer, "trainer");
    for (int w = 0; w < run_.workers; ++w)
      builder_.thread_name(kFirstWorker + w, "loader " + std::to_string(w));
    builder_.setting("workers", std::to_string(run_.workers));
    builder_.setting("batch_size", "128");
    builder_.setting("fused_bn", "off");
    node("conv2d", "stem.conv", run_.conv, 9'000'000, 160'000'000);
    for (int b = 0; b < run_.blocks; ++b) {
      std::string layer = "layer" + std::to_string(b / 2 + 1) + "." + std::to_string(b % 2) + ".";
      for (int half = 1; half <= 2; ++half) {
        std::string n = std::to_string(half);
        node("conv2d", layer + "conv" + n, run_.conv, 9'000'000, 160'000'000);
        node("batch_norm", layer + "bn" + n, run_.conv / 6, 6'400'000, 3'200'000);
        node("relu", layer + "relu" + n, run_.conv / 9, 6'400'000, 1'600'000);
      }
      node("add", layer + "add", run_.conv / 7, 9'600'000, 1'600'000);
    }
    node("linear", "head.linear", run_.conv / 5, 400'000, 9'000'000);
    describe_backward();
  }

  /// When each batch is ready, and the ranges of the workers that make it.
  void make_batches() {
    // Workers start one after the other, so that batches come evenly.
    std::vector<std::int64_t> free_at;
    std::int64_t batch = run_.read + run_.decode + run_.augment + run_.collate;
    for (int w = 0; w < run_.workers; ++w) free_at.push_back(40'000'000 + w * batch / run_.workers);
    for (int b = 0; b < run_.steps; ++b) {
      std::size_t w = static_cast<std::size_t>(b % run_.workers);
      std::int32_t tid = kFirstWorker + static_cast<std::int32_t>(w);
      std::int64_t t = free_at[w];
      std::int64_t begin = t;
      for (int file = 0; file < run_.small_files; ++file)
        stage(tid, "read", RangeKind::kRead, b, t, run_.read / run_.small_files,
              kBatchBytes / run_.small_files);
      stage(tid, "decode", RangeKind::kDecode, b, t, run_.decode, 0);
      stage(tid, "augment", RangeKind::kAugment, b, t, run_.augment, 0);
      stage(tid, "collate", RangeKind::kCollate, b, t, run_.collate, 0);
      builder_.range(tid, "batch", begin, t, {.kind = RangeKind::kBatch, .batch = b});
      ready_.push_back(t);
      free_at[w] = t + vary(60'000);
    }
  }

  void stage(std::int32_t tid, std::string_view name, RangeKind kind, int batch, std::int64_t& t,
             std::int64_t duration, std::int64_t bytes) {
    std::int64_t end = t + std::max<std::int64_t>(1, vary(duration));
    builder_.range(tid, name, t, end, {.kind = kind, .batch = batch, .bytes = bytes});
    t = end;
  }

  void launch(std::string_view name, std::int64_t duration, Phase phase, std::int64_t op, int step,
              std::int64_t bytes, std::int64_t flops) {
    std::int64_t call = vary(5'000);
    std::int64_t start = std::max(host_ + call + vary(4'000), compute_free_);
    builder_.launch(kTrainer, host_, host_ + call, start, start + duration,
                    {.name = name,
                     .stream = kCompute,
                     .phase = phase,
                     .op = op,
                     .batch = step,
                     .bytes = bytes,
                     .flops = flops});
    compute_free_ = start + duration + vary(900);
    host_ += call + vary(7'000);
  }

  void op(const GraphNode& node, Phase phase, int step) {
    std::int64_t begin = host_;
    host_ += vary(6'000);
    bool backward = phase == Phase::kBackward;
    std::string kernel = node.type + (backward ? "_backward_nhwc" : "_forward_nhwc");
    std::int64_t id = node.op + (backward ? kBackward : 0);
    int kernels = backward && node.type == "conv2d" ? 2 : 1;
    for (int k = 0; k < kernels; ++k)
      launch(kernel, vary(node.duration, 4), phase, id, step, node.bytes, node.flops);
    builder_.range(kTrainer, node.name + (backward ? ".backward" : ""), begin, host_,
                   {.kind = RangeKind::kOp, .phase = phase, .op = id, .step = step});
  }

  void phase(std::string_view name, Phase phase, std::int64_t begin) {
    builder_.range(kTrainer, name, begin, host_, {.kind = RangeKind::kPhase, .phase = phase});
  }

  void input(int step) {
    std::int64_t begin = host_;
    std::int64_t ready = ready_[static_cast<std::size_t>(step)];
    host_ = std::max(host_ + 20'000, ready + 15'000);
    builder_.range(kTrainer, "wait for batch", begin, host_,
                   {.kind = RangeKind::kInputWait, .phase = Phase::kInput, .batch = step});
    std::int64_t call = vary(9'000);
    std::int64_t start = std::max(host_ + call + 3'000, copy_free_);
    std::int64_t end = start + vary(700'000);
    builder_.launch(kTrainer, host_, host_ + call, start, end,
                    {.name = "copy batch",
                     .stream = kCopy,
                     .kind = DeviceOpKind::kCopyHostToDevice,
                     .batch = step,
                     .bytes = kBatchBytes,
                     .source = MemoryKind::kPinned});
    copy_free_ = end;
    compute_free_ = std::max(compute_free_, end);
    host_ += call + 5'000;
    phase("input", Phase::kInput, begin);
  }

  void train(int step) {
    std::int64_t step_begin = host_;
    input(step);
    std::int64_t begin = host_;
    for (const GraphNode& node : graph_) op(node, Phase::kForward, step);
    phase("forward", Phase::kForward, begin);
    begin = host_;
    for (auto node = graph_.rbegin(); node != graph_.rend(); ++node)
      op(*node, Phase::kBackward, step);
    phase("backward", Phase::kBackward, begin);
    begin = host_;
    launch("multi_tensor_sgd", vary(310'000), Phase::kUpdate, -1, step, 3'300'000, 1'100'000);
    phase("update", Phase::kUpdate, begin);
    std::int64_t wait = host_;
    host_ = std::max(host_ + 2'000, compute_free_ + vary(12'000));
    builder_.call(kTrainer, DeviceCallKind::kStreamSynchronize, wait, host_);
    builder_.range(kTrainer, "step", step_begin, host_,
                   {.kind = RangeKind::kStep, .batch = step, .step = step});
    if (step % 20 == 19) builder_.mark(kTrainer, "epoch end", host_);
    host_ += vary(30'000);
  }

  void count() {
    std::int64_t end = host_;
    for (std::int64_t t = 0, i = 0; t <= end; t += 100'000'000, ++i) {
      builder_.counter("process.cpu", "%", t, static_cast<double>(vary(175, 15)));
      builder_.counter("process.memory", "bytes", t,
                       4.1e8 + 2.2e8 * (1 - 1.0 / static_cast<double>(i + 1)));
      builder_.counter("process.read", "bytes/s", t, static_cast<double>(vary(31'000'000, 30)));
    }
  }

  const TrainingTrace& run_;
  TraceBuilder& builder_;
  std::uint64_t random_ = 42;
  std::vector<GraphNode> graph_;
  std::vector<std::int64_t> ready_;
  std::int64_t host_ = 60'000'000;
  std::int64_t compute_free_ = 0;
  std::int64_t copy_free_ = 0;
};

}  // namespace

void TrainingTrace::build(TraceBuilder& builder) const {
  Writer(*this, builder).write();
}

}  // namespace headway::test
