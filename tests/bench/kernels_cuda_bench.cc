// SPDX-License-Identifier: MIT
// Time and memory rate of every CUDA kernel beside the rate of a copy that the same run measures, and where arithmetic is the
// bound its rate beside that of a large BF16 product. Random data;
// before each measurement a block larger than the second-level cache is written; medians and quartiles between
// two events. Bytes are what the op has to move at least, read plus written.
// Usage: headway_bench_kernels_cuda [--quick] [FILE.json]. Exit code 77: there is no usable GPU.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "kernels/adam/launch.h"
#include "kernels/add/launch.h"
#include "kernels/attention/launch.h"
#include "kernels/batch_norm/launch.h"
#include "kernels/bias_activation/launch.h"
#include "kernels/box_match/launch.h"
#include "kernels/cast/launch.h"
#include "kernels/cuda/cudnn/convolution.h"
#include "kernels/embedding/launch.h"
#include "kernels/layer_norm/launch.h"
#include "kernels/layout/launch.h"
#include "kernels/loss_scaler/launch.h"
#include "kernels/lstm/launch.h"
#include "kernels/max_pool/launch.h"
#include "kernels/mean_pool/launch.h"
#include "kernels/multibox/launch.h"
#include "kernels/parts/launch.h"
#include "kernels/quantise/launch.h"
#include "kernels/relu/launch.h"
#include "kernels/row_program/launch.h"
#include "kernels/sgd_momentum/launch.h"
#include "kernels/simota/launch.h"
#include "kernels/softmax/launch.h"
#include "kernels/softmax_cross_entropy/launch.h"
#include "kernels/stream_op/launch.h"
#include "kernels/trust_ratio/launch.h"
#include "tests/bench/cuda_timing.h"

namespace {

using namespace headway;
using namespace headway::kernels::cuda;
using bench::size_of;
using Bench = bench::CudaTiming;
using kernels::Epilogue;
using kernels::NumberFormat;

constexpr NumberFormat kFull = NumberFormat::kFloat32;
constexpr NumberFormat kFormats[] = {NumberFormat::kFloat32, NumberFormat::kFloat16,
                                     NumberFormat::kBfloat16};
const char* const kNames[] = {"FP32", "FP16", "BF16"};

void bench_elementwise(Bench& b, NumberFormat f, const char* name) {
  const std::int64_t n = b.quick() ? 5000 : 1 << 26, bytes = n * size_of(f);
  const std::string shape = fmt::format("{}", n);
  void *x = b.array(f, n), *y = b.array(f, n), *z = b.array(f, n);
  b.measure("add_naive", name, shape, 3 * bytes,
            {add(b.limits(), f, n, x, y, z, AddVariant::kNaive)});
  b.measure("add", name, shape, 3 * bytes, {add(b.limits(), f, n, x, y, z)});
  b.measure("relu_forward", name, shape, 2 * bytes, {relu_forward(b.limits(), f, n, x, z)});
  b.measure("relu_backward", name, shape, 3 * bytes, {relu_backward(b.limits(), f, n, x, y, z)});
  if (f != kFull) {
    float* wide = b.floats(n);
    b.measure("cast_to", name, shape, bytes + 4 * n, {cast(b.limits(), kFull, f, n, wide, z)});
    b.measure("cast_from", name, shape, bytes + 4 * n, {cast(b.limits(), f, kFull, n, x, wide)});
  }
  const std::int64_t pixels = b.quick() ? 25 : 3136, channels = 64, images = n / pixels / channels;
  const std::int64_t moved = 2 * images * pixels * channels * size_of(f);
  for (auto [variant, suffix] :
       {std::pair{LayoutVariant::kNaive, "_naive"}, {LayoutVariant::kTiled, ""}})
    b.measure(fmt::format("nchw_to_nhwc{}", suffix), name,
              fmt::format("{}x{}x{}", images, channels, pixels), moved,
              {nchw_to_nhwc(b.limits(), f, images, channels, pixels, x, z, variant)});
  b.forget();
}

/// A chain of elementwise ops as the graph compiler makes it, and a layer norm of parts: interpreted (naive) and generated.
void bench_programs(Bench& b, std::int64_t rows, std::int64_t columns, const float* x,
                    const float* gamma, const float* beta, float* y) {
  using enum kernels::RowOp;
  using kernels::RowKind;
  const std::string shape = fmt::format("{}x{}", rows, columns);
  const std::int64_t bytes = 4 * rows * columns;
  auto program = [&](const char* name, std::vector<kernels::RowInstruction> code) {
    const int last = static_cast<int>(code.size()) + 2;
    const kernels::RowProgram by{rows,
                                 columns,
                                 {RowKind::kFull, RowKind::kPerColumn, RowKind::kPerColumn},
                                 std::move(code),
                                 {last}};
    const RowArray in[] = {
        {const_cast<float*>(x)}, {const_cast<float*>(gamma)}, {const_cast<float*>(beta)}};
    const RowArray out[] = {{y}};
    b.measure(fmt::format("{}_naive", name), "FP32", shape, 2 * bytes,
              {run_row_program(b.limits(), by, in, out, 1, RowVariant::kInterpreted)});
    if (b.no_compiler().empty())
      b.measure(name, "FP32", shape, 2 * bytes,
                {run_row_program(b.limits(), by, in, out, 1, RowVariant::kGenerated)});
  };
  program("row_program_scale", {{kScale, 0, -1, 0.5F}});
  program("row_program_chain",
          {{kAdd, 0, 1}, {kGelu, 3}, {kDropout, 4, -1, 0.1F}, {kMultiply, 5, 2}});
  program("row_program_layer_norm", {{kRowMean, 0},
                                     {kSubtract, 0, 3},
                                     {kMultiply, 4, 4},
                                     {kRowMean, 5},
                                     {kRsqrt, 6, -1, 1e-5F},
                                     {kMultiply, 4, 7},
                                     {kMultiply, 8, 1},
                                     {kAdd, 9, 2}});
}

void bench_rows(Bench& b, NumberFormat f, const char* name) {
  for (std::int64_t columns : b.quick() ? std::vector<std::int64_t>{64}
                                        : std::vector<std::int64_t>{768, 1024, 4096, 12288}) {
    const std::int64_t rows = (b.quick() ? 4000 : 1 << 25) / columns, n = rows * columns;
    const std::int64_t bytes = n * size_of(f);
    const std::string shape = fmt::format("{}x{}", rows, columns);
    void *x = b.array(f, n), *dy = b.array(f, n), *y = b.array(f, n), *p = b.array(f, n);
    float *gamma = b.floats(columns), *beta = b.floats(columns), *mean = b.floats(rows),
          *rstd = b.floats(rows);
    float *dgamma = b.floats(columns), *dbeta = b.floats(columns);
    LayerNormArrays a;
    a.x = x, a.y = y, a.dy = dy, a.dx = y, a.gamma = gamma, a.beta = beta, a.mean = mean,
    a.rstd = rstd;
    a.dgamma = dgamma, a.dbeta = dbeta;
    a.scratch = b.floats(layer_norm_scratch_floats(b.limits(), {rows, columns}));
    for (auto [variant, suffix] :
         {std::pair{LayerNormVariant::kNaive, "_naive"}, {LayerNormVariant::kBest, ""}}) {
      b.measure(fmt::format("layer_norm_forward{}", suffix), name, shape, 2 * bytes,
                {layer_norm_forward(b.limits(), f, {rows, columns}, 1e-5F, a, variant)});
      b.measure(fmt::format("layer_norm_backward{}", suffix), name, shape, 3 * bytes,
                layer_norm_backward(b.limits(), f, {rows, columns}, a, variant));
    }
    float* scratch = b.floats(plan_columns(b.limits(), rows, columns).scratch_floats(1));
    b.measure(
        "bias_gelu_forward", name, shape, 2 * bytes,
        {bias_activation_forward(b.limits(), Activation::kGelu, f, rows, columns, x, beta, y)});
    b.measure("bias_gelu_backward", name, shape, 3 * bytes,
              bias_activation_backward(b.limits(), Activation::kGelu, f, rows, columns, x, beta, dy,
                                       y, dbeta, scratch));
    b.measure("column_sum", name, shape, bytes,
              column_sum(b.limits(), f, rows, columns, x, dbeta, scratch));
    const kernels::SoftmaxCrossEntropyShape loss{rows, static_cast<int>(columns)};
    std::vector<std::int32_t> labels(997);
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int32_t>(i * 31 % static_cast<std::size_t>(columns));
    SoftmaxCrossEntropyArrays s{x,
                                b.filled(rows, labels),
                                nullptr,
                                p,
                                nullptr,
                                nullptr,
                                b.floats(softmax_cross_entropy_scratch_floats(loss))};
    s.figures = b.filled<kernels::LossFigures>(1, {{}});
    for (auto [variant, suffix] :
         {std::pair{SoftmaxVariant::kNaive, "_naive"}, {SoftmaxVariant::kBest, ""}})
      b.measure(fmt::format("softmax_cross_entropy{}", suffix), name, shape, 2 * bytes,
                softmax_cross_entropy(b.limits(), f, loss, s, variant));
    b.measure("softmax_forward", name, shape, 2 * bytes,
              {softmax_forward(b.limits(), f, rows, columns, x, y)});
    b.measure("softmax_backward", name, shape, 3 * bytes,
              {softmax_backward(b.limits(), f, rows, columns, y, dy, p)});
    if (f == kFull)
      bench_programs(b, rows, columns, static_cast<float*>(x), gamma, beta, static_cast<float*>(y));
    b.forget();
  }
}

/// Integers of 8 bits, as inference has them: into them, and what follows a product of them.
void bench_integers(Bench& b, NumberFormat f, const char* name) {
  constexpr std::int64_t kColumns = 256;
  const std::int64_t rows = b.quick() ? 20 : 1 << 18, n = rows * kColumns;
  const std::string shape = fmt::format("{}x{}", rows, kColumns);
  void* x = b.array(f, n);
  auto* integers = b.filled<std::int8_t>(n, {3, -90, 127});
  b.measure("quantise", name, shape, n * (size_of(f) + 1),
            {quantise(b.limits(), f, {rows, kColumns, kColumns, 0.01F}, x, integers)});
  auto* sums = b.filled<std::int32_t>(n, {7000, -250, 31});
  auto* residual = b.filled<std::int8_t>(n, {5, 60, -7});
  const kernels::ProductEpilogue ends{rows, kColumns, kernels::EpilogueActivation::kRelu, 0.02F,
                                      f == kFull ? 50.0F : 0.0F};
  EpilogueArrays arrays{sums,     Element::kInt32, b.floats(kColumns), b.floats(kColumns),
                        residual, Element::kInt8};
  arrays.y = f == kFull ? integers : x;
  arrays.y_type = f == kFull ? Element::kInt8 : element_of(f);
  b.measure(f == kFull ? "product_epilogue_to_int8" : "product_epilogue", name, shape,
            n * (5 + (f == kFull ? 1 : size_of(f))), {product_epilogue(b.limits(), ends, arrays)});
  b.forget();
}

void bench_images(Bench& b, NumberFormat f, const char* name) {
  constexpr std::pair<Epilogue, const char*> kEpilogues[] = {{Epilogue::kNone, "batch_norm"},
                                                             {Epilogue::kRelu, "bn_relu"},
                                                             {Epilogue::kAddRelu, "bn_add_relu"}};
  for (int channels : b.quick() ? std::vector<int>{16} : std::vector<int>{64, 256, 2048}) {
    const kernels::BatchNormShape shape{(b.quick() ? 2000 : 1 << 25) / channels, channels};
    const std::int64_t n = shape.elements(), bytes = n * size_of(f), mask = n / 8;
    const std::string text = fmt::format("{}x{}", shape.rows, channels);
    BatchNormArrays a;
    a.x = b.array(f, n), a.residual = a.dy = b.array(f, n), a.y = a.dx = b.array(f, n),
    a.dresidual = b.array(f, n);
    a.mask = b.filled<std::uint8_t>(n / 8 + 8, {0x5A});
    float** const arrays[] = {&a.running_mean, &a.running_variance, &a.saved_mean,
                              &a.saved_rstd,   &a.dgamma,           &a.dbeta};
    for (float** array : arrays) *array = b.floats(channels);
    a.gamma = b.floats(channels), a.beta = b.floats(channels);
    a.scratch = b.floats(batch_norm_scratch_floats(b.limits(), shape));
    for (const auto& [epilogue, op] : kEpilogues) {
      // Forward reads x twice, backward x and dy: once for the sums, once to apply them.
      const bool join = epilogue == Epilogue::kAddRelu;
      b.measure(fmt::format("{}_forward", op), name, text,
                (join ? 4 : 3) * bytes + (join ? mask : 0),
                batch_norm_forward(b.limits(), f, shape, epilogue, 1e-5F, 0.1F, a));
      b.measure(fmt::format("{}_backward", op), name, text,
                (join ? 6 : 5) * bytes + (join ? 2 * mask : 0),
                batch_norm_backward(b.limits(), f, shape, epilogue, a));
    }
    b.forget();
  }
  const kernels::MaxPoolShape pool{b.quick() ? 1 : 64, b.quick() ? 8 : 112, b.quick() ? 8 : 112,
                                   64};
  void *x = b.array(f, pool.inputs()), *y = b.array(f, pool.results());
  std::uint8_t* place = b.filled<std::uint8_t>(pool.results(), {4});
  const std::int64_t bytes = (pool.inputs() + pool.results()) * size_of(f) + pool.results();
  const std::string text = fmt::format("{}x{}x{}x64", pool.images, pool.height, pool.width);
  b.measure("max_pool_forward", name, text, bytes,
            {max_pool_forward(b.limits(), f, pool, x, y, place)});
  b.measure("max_pool_backward", name, text, bytes,
            {max_pool_backward(b.limits(), f, pool, y, place, x)});
  b.forget();
  const std::int64_t images = b.quick() ? 3 : 1024, positions = 49,
                     channels = b.quick() ? 16 : 2048;
  const std::int64_t large = images * positions * channels, small = images * channels;
  void *maps = b.array(f, large), *means = b.array(f, small);
  const std::string mean_text = fmt::format("{}x{}x{}", images, positions, channels);
  b.measure("mean_pool_forward", name, mean_text, (large + small) * size_of(f),
            {mean_pool_forward(b.limits(), f, images, positions, channels, maps, means)});
  b.measure("mean_pool_backward", name, mean_text, (large + small) * size_of(f),
            {mean_pool_backward(b.limits(), f, images, positions, channels, means, maps)});
  b.forget();
}

/// A layer of a translator: the cell of one step, and a whole layer in one kernel, which reads its weights from the cache
/// in each step and is bound by that.
void bench_recurrent(Bench& b, NumberFormat f, const char* name) {
  for (std::int64_t hidden :
       b.quick() ? std::vector<std::int64_t>{16} : std::vector<std::int64_t>{128, 512, 1024}) {
    const kernels::LstmShape s{b.quick() ? 2 : 32, b.quick() ? 3 : 64, hidden};
    const std::int64_t n = s.rows * hidden;
    LstmArrays a;
    a.used = b.filled<std::int32_t>(1, {static_cast<std::int32_t>(s.steps)});
    a.input = b.array(f, 4 * s.steps * n), a.weights = b.array(f, 4 * hidden * hidden);
    a.gates = b.array(f, 4 * s.steps * n), a.dgates = b.array(f, 4 * s.steps * n);
    a.cell = b.array(f, s.steps * n), a.h = b.array(f, s.steps * n);
    a.before = b.array(f, s.steps * n), a.dh = b.array(f, s.steps * n);
    a.product = b.floats(4 * n), a.dh_later = b.floats(n), a.dcell = b.floats(n);
    const std::string shape = fmt::format("{}x{}x{}", s.steps, s.rows, hidden);
    b.measure("lstm_cell_forward", name, shape, n * (13 * size_of(f) + 16),
              {lstm_cell_forward(b.limits(), f, s, 1, a)});
    b.measure("lstm_cell_backward", name, shape, n * (11 * size_of(f) + 12),
              {lstm_cell_backward(b.limits(), f, s, 0, a)});
    const std::int64_t weights = 4 * hidden * hidden * size_of(f);
    b.measure("lstm_forward", name, shape, s.steps * n * 11 * size_of(f) + weights,
              {lstm_forward(b.limits(), f, s, a)});
    b.measure("lstm_backward", name, shape, s.steps * n * 10 * size_of(f) + weights,
              {lstm_backward(b.limits(), f, s, a)});
    b.forget();
  }
}

/// cuDNN's choice for convolutions of ResNet-50, first and inner ones; arithmetic bounds most of them. Nothing where cuDNN
/// is not installed.
void bench_convolutions(Bench& b) {
  using cuda::ConvolutionForm;
  std::unique_ptr<cuda::Cudnn> library;
  try {
    library = std::make_unique<cuda::Cudnn>();
  } catch (const Error& error) {
    fmt::print("convolutions left out: {}\n", error.what());
    return;
  }
  const std::int64_t images = b.quick() ? 1 : 128, edge = b.quick() ? 8 : 56;
  for (auto [format, name] : {std::pair{NumberFormat::kFloat32, "FP32"},
                              {NumberFormat::kTf32, "TF32"},
                              {NumberFormat::kFloat16, "FP16"},
                              {NumberFormat::kBfloat16, "BF16"}}) {
    const NumberFormat memory = format == NumberFormat::kTf32 ? kFull : format;
    for (const cuda::ConvolutionShape& s :
         {cuda::ConvolutionShape{images, 4 * edge, 4 * edge, 3, 64, 7, 2, 3},
          {images, edge, edge, 64, 64, 3, 1, 1},
          {images, edge, edge, 64, 256, 1, 1, 0},
          {images, edge, edge, 128, 128, 3, 2, 1},
          {images, edge / 8, edge / 8, 512, 2048, 1, 1, 0}}) {
      void *x = b.array(memory, s.x_elements()), *w = b.array(memory, s.w_elements()),
           *y = b.array(memory, s.y_elements());
      const std::int64_t bytes =
          (s.x_elements() + s.w_elements() + s.y_elements()) * size_of(memory);
      for (auto [form, op] : {std::pair{ConvolutionForm::kForward, "convolution_forward"},
                              {ConvolutionForm::kBackwardData, "convolution_by_data"},
                              {ConvolutionForm::kBackwardWeights, "convolution_by_weights"}}) {
        const cuda::ConvolutionPlan plan(*library, form, format, s);
        float* workspace = b.floats(std::max<std::int64_t>(1, plan.workspace_bytes() / 4));
        const auto bound = plan.bind({x, w, y, workspace});
        b.measure(op, name,
                  fmt::format("{}x{}x{}_by_{}x{}x{}_stride_{}", s.images, s.height, s.channels,
                              s.filters, s.kernel, s.kernel, s.stride),
                  bytes, [&](CUstream stream) { plan.run(stream, bound); });
      }
      b.forget();
    }
  }
}

/// A detector's targets and loss on SSD's 8732 anchors.
void bench_detection(Bench& b, NumberFormat f, const char* name) {
  const std::int64_t images = b.quick() ? 2 : 32, anchors = b.quick() ? 100 : 8732;
  const kernels::MultiboxShape s{images, anchors, b.quick() ? 5 : 81};
  const std::int64_t rows = s.rows();
  std::vector<std::int32_t> labels(997);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 83 == 0 ? 1 : 0;
  MultiboxArrays a;
  a.log_probabilities = b.array(f, rows * s.classes), a.labels = b.filled(rows, labels);
  a.losses = b.floats(rows), a.picked = b.filled<std::uint8_t>(rows, {0});
  a.places = b.filled<std::int32_t>(rows, {0}), a.offsets = b.array(f, 4 * rows);
  a.targets = b.floats(4 * rows), a.figures = b.filled<kernels::LossFigures>(1, {{}});
  a.dlog_probabilities = b.array(f, rows * s.classes), a.doffsets = b.array(f, 4 * rows);
  a.parts = b.filled<double>(multibox_scratch_doubles(b.limits(), s), {0});
  const std::string shape = fmt::format("{}x{}x{}", images, anchors, s.classes);
  b.measure("background_losses", name, shape, rows * (size_of(f) + 8),
            {background_losses(b.limits(), f, s, a)});
  b.measure("pick_hard_negatives", name, shape, 5 * rows, {pick_hard_negatives(b.limits(), s, a)});
  b.measure("compact", name, shape, 5 * rows, compact(b.limits(), s, a));
  b.measure("multibox_loss_forward", name, shape, 12 * rows,
            multibox_loss_forward(b.limits(), f, s, a));
  b.measure("multibox_loss_backward", name, shape, rows * (s.classes + 4) * size_of(f),
            multibox_loss_backward(b.limits(), f, s, a));
  const Part parts[] = {{const_cast<void*>(a.offsets), 2 * anchors}, {a.doffsets, 2 * anchors}};
  b.measure("join_parts", name, shape, 8 * rows * size_of(f),
            {join_parts(b.limits(), f, images, parts, a.dlog_probabilities)});
  if (f == kFull) {
    const kernels::BoxMatchShape match{images, b.quick() ? 3 : 32, anchors};
    const std::vector<float> box = {0.1F, 0.2F, 0.5F, 0.7F};
    const BoxMatchArrays m{b.filled(4 * images * match.boxes, box),
                           a.labels,
                           b.filled(4 * anchors, box),
                           b.floats(match.pairs()),
                           b.filled<std::int32_t>(images * match.boxes, {0}),
                           a.places,
                           static_cast<float*>(a.doffsets)};
    const std::string text = fmt::format("{}x{}x{}", images, match.boxes, anchors);
    b.measure("box_overlaps", name, text, 4 * match.pairs(), {box_overlaps(b.limits(), match, m)});
    b.measure("best_anchors", name, text, 4 * match.pairs(), {best_anchors(b.limits(), match, m)});
    b.measure("match_targets", name, text, 4 * match.pairs() + 20 * rows,
              {match_targets(b.limits(), match, m)});
    const std::vector<float> region = {0.2F, 0.3F, 0.4F, 0.6F};
    const kernels::Simota simota{
        .shape = {match, s.classes},
        .boxes = m.boxes,
        .labels = a.labels,
        .anchors = m.anchors,
        .regions = b.filled(4 * anchors, region),
        .log_probabilities = static_cast<const float*>(a.log_probabilities),
        .offsets = static_cast<const float*>(a.offsets),
        .candidates = a.picked,
        .predicted = b.floats(4 * rows),
        .overlaps = m.overlaps,
        .costs = b.floats(match.pairs()),
        .last = m.best,
        .anchor_labels = a.places,
        .targets = m.offsets};
    for (std::size_t i = 0; i < kSimotaLaunches.size(); ++i) {
      const Launch launch = kSimotaLaunches[i](b.limits(), simota);
      b.measure(launch.kernel, name, text, kernels::kSimotaPasses[i].work(simota.shape).bytes,
                {launch});
    }
  }
  b.forget();
}

/// The parameters of ResNet-50, about: 161 tensors, most of them small.
void bench_optimizers(Bench& b, NumberFormat f, const char* name) {
  std::vector<TableTensor> tensors;
  std::int64_t n = 0;
  for (int i = 0; i < (b.quick() ? 40 : 161); ++i) {
    const std::int64_t count = b.quick() ? 50 + i : i % 3 == 0 ? 480'000 : 512;
    TableTensor t;
    t.parameter = b.floats(count), t.first = b.floats(count), t.second = b.floats(count),
    t.direction = b.floats(count);
    t.gradient = b.array(f, count), t.count = count;
    tensors.push_back(t);
    n += count;
  }
  const std::string shape = fmt::format("{}_in_{}", n, tensors.size());
  const std::int64_t g = n * size_of(f);
  TableStep by;
  by.rate = 1e-9F, by.momentum = by.beta1 = 0.9F, by.beta2 = 0.999F, by.epsilon = 1;
  by.parts = b.filled<double>(count_chunks(tensors), {0});
  double* squares = by.squares = b.filled<double>(static_cast<std::int64_t>(tensors.size()), {1});
  by.parameter_squares = by.other_squares = squares;
  Limits small = b.limits();
  small.parameter_bytes = kSmallParameters;
  b.measure("sgd_momentum", name, shape, 16 * n + g, sgd_momentum(b.limits(), f, by, tensors));
  b.measure("sgd_momentum_small_tables", name, shape, 16 * n + g,
            sgd_momentum(small, f, by, tensors));
  Launches each;
  for (const TableTensor& t : tensors)
    for (const Launch& launch : sgd_momentum(b.limits(), f, by, {&t, 1})) each.push_back(launch);
  b.measure("sgd_momentum_each", name, shape, 16 * n + g, each);
  b.measure("adam", name, shape, 24 * n + g, adam(b.limits(), f, by, tensors));
  b.measure("norm_gradient", name, shape, g,
            squared_norms(b.limits(), NormOf::kGradient, f, by, tensors));
  b.measure("lamb_directions", name, shape, 24 * n + g,
            lamb_directions(b.limits(), f, by, tensors));
  b.measure("lars_apply", name, shape, 16 * n + g, lars_apply(b.limits(), f, by, tensors));
  by.state = b.filled<float>(4, {-16, 0, 0, 0});
  b.measure("unscale", name, shape, 2 * g, unscale(b.limits(), f, by, tensors));
  b.forget();
}

/// A bucket of 25 MB as ranks exchange it: into one array and back, and micro batches. Bytes are those of work_of.
void bench_exchange(Bench& b, NumberFormat f, const char* name) {
  using namespace kernels;
  std::vector<GradientTensor> tensors;
  std::int64_t n = 0;
  for (int i = 0; i < (b.quick() ? 20 : 60); ++i) {
    const std::int64_t count = b.quick() ? 64 + 8 * i : i % 3 == 0 ? 320'000 : 512;
    tensors.push_back({b.array(f, count), count, 1, f});
    n += count;
  }
  const std::string shape = fmt::format("{}_in_{}", n, tensors.size());
  float *flat = b.floats(n), *kept = b.floats(n), *kept_too = b.floats(n);
  auto measure = [&](const char* op_name, const StreamOp& op) {
    b.measure(op_name, name, shape, work_of(op).bytes, launches(b.limits(), op));
  };
  measure("pack_gradients", PackGradients{tensors, flat});
  measure("unpack_gradients", UnpackGradients{tensors, flat, 0.5F});
  measure("add_up_gradients_first", AddUpGradients{tensors, flat, true, false, 1});
  measure("add_up_gradients_last", AddUpGradients{tensors, flat, false, true, 0.5F});
  if (f == kFull) {
    constexpr int kRanks = 4;
    measure("add_vector", AddVector{n, flat, kept});
    auto* halves = b.filled<std::uint16_t>(n, {0x3800, 0x3A12});
    measure("compress_half", CompressHalf{n, flat, 0.25F, kept, halves});
    measure("decompress_half", DecompressHalf{n, halves, flat});
    const std::int64_t stride = (int8_message_bytes(n) + 3) / 4 * 4;
    auto* messages = b.filled<std::byte>(stride * kRanks, {std::byte{7}});
    measure("compress_int8", CompressInt8{n, flat, kept, messages});
    measure("decompress_int8", DecompressInt8{n, kRanks, stride, messages, flat});
    const std::int64_t part = one_bit_part(n, 1);
    auto* signs = b.filled<std::byte>(one_bit_message_bytes(part) * kRanks, {std::byte{7}});
    measure("compress_one_bit", CompressOneBit{n, part, flat, kept, signs});
    measure("decompress_one_bit", DecompressOneBit{n, part, kRanks, signs, flat});
    measure("clip_gradients", ClipGradients{n, 1, flat, b.filled<double>(clip_blocks(n), {0.0})});
    const std::int64_t entries = (n + 99) / 100;
    auto* message = b.filled<std::byte>(entries * kTopEntryBytes, {std::byte{0}});
    auto* scratch = b.filled<std::byte>(compress_top_scratch_bytes(n), {std::byte{0}});
    measure("compress_top_1_pct",
            CompressTop{n, entries, 0.9F, flat, kept, kept_too, message, scratch});
    // Indexes as a rank may send them, the same from all.
    std::vector<std::uint32_t> words;
    for (std::int64_t i = 0; i < entries; ++i)
      words.insert(words.end(), {static_cast<std::uint32_t>(100 * i), 0x3F000000U});
    auto* all = reinterpret_cast<std::byte*>(b.filled<std::uint32_t>(2 * entries * kRanks, words));
    measure("decompress_top_1_pct", DecompressTop{n, entries, kRanks, all, flat});
    for (int rank : {2, 32}) {
      std::vector<PowerMatrix> matrices;
      const std::int64_t rows = b.quick() ? 40 : 512, columns = b.quick() ? 44 : 1152;
      for (std::int64_t at = 0; at + rows * columns <= n; at += rows * columns) {
        const auto i = static_cast<std::int64_t>(matrices.size());
        matrices.push_back({at, rows, columns, i * rows * rank, i * columns * rank});
      }
      const auto count = static_cast<std::int64_t>(matrices.size()) * rows * columns;
      const std::int64_t second = static_cast<std::int64_t>(matrices.size()) * columns * rank;
      const PowerLayout layout{rank,
                               count,
                               matrices,
                               {},
                               flat,
                               kept,
                               b.floats(static_cast<std::int64_t>(matrices.size()) * rows * rank),
                               b.floats(second),
                               second};
      const std::string text = fmt::format("{}x{}x{}_by_{}", matrices.size(), rows, columns, rank);
      b.measure("power_first", name, text, work_of(PowerFirst{layout}).bytes,
                launches(b.limits(), PowerFirst{layout}));
      b.measure("power_second", name, text, work_of(PowerSecond{layout}).bytes,
                launches(b.limits(), PowerSecond{layout}));
      b.measure("power_restore", name, text, work_of(PowerRestore{layout}).bytes,
                launches(b.limits(), PowerRestore{layout, 0.25F}));
    }
  }
  b.forget();
}

/// Second half of decoding a batch of pictures of ImageNet's usual size, half the rows and columns of chroma.
void bench_jpegs(Bench& b) {
  using namespace kernels;
  const int images = b.quick() ? 2 : 256, height = b.quick() ? 17 : 375,
            width = b.quick() ? 33 : 500;
  std::vector<JpegPicture> pictures(static_cast<std::size_t>(images));
  std::int64_t blocks = 0, values = 0;
  for (JpegPicture& picture : pictures) {
    picture.height = height, picture.width = width, picture.planes = 3;
    picture.first_block = blocks, picture.to = values;
    for (int p = 0; p < 3; ++p) {
      JpegPlane& plane = picture.plane[p];
      plane.rows_per_sample = plane.columns_per_sample = p == 0 ? 1 : 2;
      plane.blocks_high = (height + 8 * plane.rows_per_sample - 1) / (8 * plane.rows_per_sample);
      plane.blocks_wide = (width + 8 * plane.rows_per_sample - 1) / (8 * plane.rows_per_sample);
      plane.offset = 64 * blocks;
      std::fill_n(plane.steps, 64, std::uint16_t{10});
      blocks += std::int64_t{plane.blocks_high} * plane.blocks_wide;
    }
    values += std::int64_t{3} * height * width;
  }
  const DecodeJpegBlocks op{images,
                            blocks,
                            b.filled<std::int16_t>(64 * blocks, {20, -3, 0, 1, 0, 0, 0}),
                            b.filled(images, pictures),
                            b.filled<std::uint8_t>(64 * blocks, {0}),
                            b.filled<std::uint8_t>(values, {0})};
  const Launches sent = launches(b.limits(), StreamOp{op});
  const std::string shape = fmt::format("{}x{}x{}", images, height, width);
  b.measure("jpeg_samples", "U8", shape, 192 * blocks, {sent[0]});
  b.measure("jpeg_pixels", "U8", shape, 64 * blocks + values, {sent[1]});
  b.forget();
}

void bench_embedding(Bench& b, NumberFormat f, const char* name) {
  const kernels::EmbeddingShape s{b.quick() ? 64 : 16384, b.quick() ? 16 : 1024,
                                  b.quick() ? 32 : 1024, b.quick() ? 50 : 50257};
  std::vector<std::int32_t> tokens(9973);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int32_t>(i * 7919 % static_cast<std::size_t>(s.entries));
  const std::int64_t n = s.tokens * s.columns;
  EmbeddingArrays a{b.filled(s.tokens, tokens),
                    b.array(f, s.entries * s.columns),
                    b.array(f, s.length * s.columns),
                    b.array(f, n),
                    b.array(f, n),
                    b.floats(s.entries * s.columns),
                    nullptr};
  const std::string shape = fmt::format("{}x{}", s.tokens, s.columns);
  b.measure("embedding_forward", name, shape, 2 * n * size_of(f),
            {embedding_forward(b.limits(), f, s, a)});
  b.measure("embedding_backward", name, shape, n * size_of(f) + 4 * (s.entries * s.columns + 2 * n),
            embedding_backward(b.limits(), f, s, a, EmbeddingVariant::kAtomic));
  b.forget();
}

/// Arithmetic bounds it, not memory. Its flops are the op's, whatever a kernel computes again.
void bench_attention(Bench& b, NumberFormat f, const char* name) {
  for (std::int64_t depth : {64, 128}) {
    kernels::AttentionShape s{8, 1024, 1024 / depth, depth, 1024, 0};
    if (b.quick()) s.batch = s.heads = 1, s.length = s.window = 16;
    const std::int64_t n = s.batch * s.length * s.columns();
    void *qkv = b.array(f, 3 * n), *y = b.array(f, n), *dy = b.array(f, n),
         *dqkv = b.array(f, 3 * n);
    float *lse = b.floats(s.groups() * s.window), *shares = b.floats(s.groups() * s.window);
    const std::string shape = fmt::format("{}x{}x{}x{}", s.batch, s.length, s.heads, s.depth);
    for (auto [variant, suffix] : {std::pair{AttentionVariant::kGeneral, "_general"},
                                   {AttentionVariant::kTensorCores, "_tensor_cores"}}) {
      if (f == kFull && variant == AttentionVariant::kTensorCores) continue;
      b.measure(fmt::format("attention_forward{}", suffix), name, shape, 4 * n * size_of(f),
                {attention_forward(b.limits(), f, s, qkv, y, lse, variant)},
                attention_forward_work(s).flops);
      b.measure(fmt::format("attention_backward{}", suffix), name, shape, 8 * n * size_of(f),
                attention_backward(b.limits(), f, s, qkv, y, lse, dy, dqkv, shares, variant),
                attention_backward_work(s).flops);
    }
    b.forget();
  }
}

/// Images on their way in: whole pictures of ImageNet's usual size, some mirrored, for ResNet-50; grey ones for ResNet-20.
/// Bytes are those of work_of.
void bench_pictures(Bench& b) {
  using namespace kernels;
  const std::int64_t images = b.quick() ? 3 : 64;
  const int height = b.quick() ? 37 : 375, width = b.quick() ? 50 : 500,
            side = b.quick() ? 24 : 224;
  const std::int64_t source = std::int64_t{3} * height * width, values = 3L * side * side;
  std::vector<std::uint8_t> some(100'003);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : some)
    byte = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24);
  const auto* pictures = b.filled(images * source, some);
  auto* pixels = b.filled(images * values, some);
  std::vector<PicturePart> parts;
  std::vector<ColourChange> changes;
  for (int i = 0; i < images; ++i) {
    parts.push_back({i * source, height, width, 0, 0, static_cast<float>(height),
                     static_cast<float>(width), i % 2});
    const float by = 0.01F * static_cast<float>(i % 30);
    changes.push_back({0.85F + by, 1.15F - by, 0.9F + by});
  }
  const std::string shape = fmt::format("{}x{}x{}", images, side, side);
  auto measure = [&](const char* op_name, const std::string& text, const StreamOp& op) {
    b.measure(op_name, "FP32", text, work_of(op).bytes, launches(b.limits(), op));
  };
  measure("resize_pictures", fmt::format("{}x{}x{}_to_{}x{}", images, height, width, side, side),
          ResizePictures{images, side, side, images * source, pictures, b.filled(images, parts),
                         pixels});
  ColourPictures colours{images,
                         side,
                         side,
                         {0.485F, 0.456F, 0.406F},
                         {0.229F, 0.224F, 0.225F},
                         pixels,
                         nullptr,
                         b.floats(images * values)};
  measure("colour_pictures_normalise", shape, colours);
  colours.changes = b.filled(images, changes);
  measure("colour_pictures", shape, colours);
  const std::int64_t grey = b.quick() ? 5 : 256;
  const std::vector<ImageShift> shifts = {{-2, 1, 0}, {0, 2, 1}, {1, -1, 0}};
  measure("shift_images", fmt::format("{}x28x28", grey),
          ShiftImages{grey, 28, 28, 0.011F, -0.8F, b.filled(grey * 784, some),
                      b.filled(grey, shifts), b.floats(grey * 784)});
  b.forget();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kNoGpu = 77;
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const char* file = argc > (quick ? 2 : 1) ? argv[quick ? 2 : 1] : nullptr;
  std::string why;
  const auto driver = cuda::load_driver(why);
  if (!driver) {
    fmt::print("no usable CUDA device: {}\n", why);
    return kNoGpu;
  }
  try {
    Bench bench(*driver, quick);
    bench.measure_copy();
    bench.measure_product();
    if (!bench.no_compiler().empty())
      fmt::print("generated code is not measured: {}\n", bench.no_compiler());
    bench_convolutions(bench);
    bench_jpegs(bench);
    bench_pictures(bench);
    for (std::size_t i = 0; i < std::size(kFormats); ++i) {
      bench_elementwise(bench, kFormats[i], kNames[i]);
      bench_rows(bench, kFormats[i], kNames[i]);
      bench_integers(bench, kFormats[i], kNames[i]);
      bench_images(bench, kFormats[i], kNames[i]);
      bench_recurrent(bench, kFormats[i], kNames[i]);
      bench_detection(bench, kFormats[i], kNames[i]);
      bench_optimizers(bench, kFormats[i], kNames[i]);
      bench_exchange(bench, kFormats[i], kNames[i]);
      bench_embedding(bench, kFormats[i], kNames[i]);
      bench_attention(bench, kFormats[i], kNames[i]);
    }
    if (file) std::ofstream(file) << bench.json().dump(1) << '\n';
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
