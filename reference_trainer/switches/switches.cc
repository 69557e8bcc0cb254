// SPDX-License-Identifier: MIT
#include "reference_trainer/switches/switches.h"

#include "reference_trainer/switches/switch_kinds.h"

namespace headway::trainer {
namespace {

constexpr std::string_view kRun = "Run";
constexpr std::string_view kModel = "Model and optimizer";
constexpr std::string_view kFusion = "Fusion";
constexpr std::string_view kLayout = "Layout";
constexpr std::string_view kPlacement = "Placement";
constexpr std::string_view kPrecision = "Precision";
constexpr std::string_view kInference = "Inference";
constexpr std::string_view kData = "Data";
constexpr std::string_view kInput = "Input pipeline";
constexpr std::string_view kLaunch = "Launches and synchronisation";
constexpr std::string_view kRanks = "Ranks and communication";
constexpr std::string_view kDevice = "Device";

bool several_ranks(const Settings& s) {
  return s.ranks > 1;
}
bool is_pipeline(const Settings& s) {
  return s.pipeline != PipelineSchedule::kOff;
}
bool shards_parameters(const Settings& s) {
  return s.shard_parameters;
}
/// With sharded parameters, gradients are exchanged for each micro batch anyway; a pipeline's
/// stages exchange none.
bool accumulates_on_ranks(const Settings& s) {
  return several_ranks(s) && s.accumulate > 1 && !is_pipeline(s) && !shards_parameters(s);
}
bool shares_experts(const Settings& s) {
  return s.expert_parallel;
}
bool is_ssd(const Settings& s) {
  return s.model == ModelKind::kSsd;
}
bool infers(const Settings& s) {
  return s.mode == RunMode::kInfer;
}
bool generates(const Settings& s) {
  return s.generate > 0;
}
bool has_convolutions(const Settings& s) {
  return s.model == ModelKind::kResnet || s.model == ModelKind::kSsd;
}
bool loads_code(const Settings& s) {
  return s.load_code_ms > 0;
}
bool simulates_products(const Settings& s) {
  return s.device == DeviceKind::kSim &&
         (s.model == ModelKind::kTransformer || s.model == ModelKind::kGnmt);
}
bool on_host(const Settings& s) {
  return s.device == DeviceKind::kHost;
}

bool may_join_launches(const Settings& s) {
  return s.sync.ops == 0 && !s.raw_allocator;
}

Switch sync_switch() {
  const std::string values = "never, op, or n (a number of ops)";
  auto get = [](const Settings& s) {
    if (s.sync.ops == 0) return std::string("never");
    return s.sync.ops == 1 ? std::string("op") : std::to_string(s.sync.ops);
  };
  auto set = [values](Settings& s, const std::string& value) {
    std::int64_t ops = 0;
    if (value == "op") {
      ops = 1;
    } else if (value != "never" && (!parse_number(value, ops) || ops < 1)) {
      fail_value("sync", value, values);
    }
    s.sync.ops = ops;
  };
  return {"sync",
          kLaunch,
          values,
          "How often the host waits for the device: after every op, after every n-th, or never.",
          "host-sync",
          get,
          set,
          try_values({"never"})};
}

std::vector<Switch> make_switches() {
  using S = Settings;
  return {
      choice<RunMode>({"mode", kRun,
                       "Train, or run inference in the number format of infer_precision as fast as "
                       "batches arrive, and compare its accuracy with FP32."},
                      &S::mode, {{"train", RunMode::kTrain}, {"infer", RunMode::kInfer}}),
      text({"checkpoint", kRun,
            "Parameter file (safetensors). Training writes it at the end; inference reads it. "
            "Empty: training writes none, and inference first trains for train_steps."},
           &S::checkpoint, "a file"),
      integer({"steps", kRun, "Steps to train, over as many epochs as that takes."}, &S::steps, 0,
              100000000, "the epochs decide"),
      integer({"epochs", kRun, "Passes over the training data, if steps is 0."}, &S::epochs, 1,
              100000),
      integer({"batch", kRun, "Samples (images or sequences) per step.", "launch-bound"}, &S::batch,
              1, 65536),
      integer({"seed", kRun, "Seed of initial weights, order and augmentation."}, &S::seed, 0,
              1000000000),
      flag({"eval", kRun, "Measure the accuracy on test data after training."}, &S::eval),
      integer({"eval_samples", kRun, "Test samples for this measurement."}, &S::eval_samples, 0,
              100000000, "all"),
      choice<ModelKind>({"model", kModel,
                         "The network: ResNet on images, a GPT-style transformer on the bytes of a "
                         "text, gnmt, "
                         "LSTM layers with attention on sentences and their translations, or ssd, "
                         "a detector of objects in pictures behind a ResNet."},
                        &S::model,
                        {{"resnet", ModelKind::kResnet},
                         {"transformer", ModelKind::kTransformer},
                         {"gnmt", ModelKind::kGnmt},
                         {"ssd", ModelKind::kSsd}}),
      one_of({"depth", kModel,
              "Layers of the residual network; 20 is ResNet-20, 50 is ResNet-50 with bottleneck "
              "blocks. ssd leaves out what comes after the third stage."},
             &S::depth, {8, 14, 20, 26, 32, 44, 50, 56}),
      one_of({"width", kModel, "Channels of its first stage; 16 is ResNet-20."}, &S::width,
             {8, 16, 32, 64}),
      integer({"layers", kModel, "Blocks of the transformer, or LSTM layers of each side of gnmt."},
              &S::layers, 1, 96),
      integer({"heads", kModel, "Attention heads of each block; divides features."}, &S::heads, 1,
              128),
      integer({"features", kModel, "Width of the transformer or of gnmt."}, &S::features, 8, 8192),
      integer({"sequence", kModel, "Tokens of a sequence; of gnmt's sentences, at most."},
              &S::sequence, 2, 8192),
      integer(
          {"window", kModel,
           "Attention within windows of this many tokens, shifted by half in every other block, as "
           "in vision transformers (fused: 392 to 13 µs for one layer's ten kernels).",
           "unfused-attention"},
          &S::window, 0, 8192, "the whole sequence"),
      number({"dropout", kModel,
              "Share that the transformer's branches and the inputs of gnmt's layers drop."},
             &S::dropout, 0, 0.95),
      integer({"experts", kModel,
               "Transformer: experts per block instead of its GELU layer; a router chooses for "
               "each token."},
              &S::experts, 0, 4096, "none"),
      integer({"expert_choices", kModel, "Experts per token."}, &S::expert_choices, 1, 16),
      number({"expert_capacity", kModel,
              "Token slots of an expert, as a multiple of its mean load. Excess tokens are "
              "dropped; empty slots are computed.",
              "expert-imbalance"},
             &S::expert_capacity, 0, 64, "no token is dropped, none is computed in vain"),
      number({"router_imbalance", kModel,
              "Load of the most popular expert, as a multiple of the mean; each block favours a "
              "different expert. A balancing loss keeps it near 1. A real router is biased by this "
              "factor.",
              "expert-imbalance", try_values({"1"}, shares_experts)},
             &S::router_imbalance, 1, 4096),
      choice<Matching>({"matching", kModel,
                        "Which anchors of ssd learn which box. overlap: those that overlap it "
                        "most, as in SSD. simota: the k anchors whose predictions fit it best, as "
                        "in YOLOX; k is the sum of its ten largest overlaps with predictions. "
                        "simota needs --assign batched or per-sample, because the loader has no "
                        "predictions.",
                        "serial-per-sample"},
                       &S::matching,
                       {{"overlap", Matching::kOverlap}, {"simota", Matching::kSimota}}),
      choice<OptimizerChoice>({"optimizer", kModel,
                               "SGD with momentum, AdamW, or their layer-wise forms LARS and LAMB "
                               "for large batches; auto: SGD for images, AdamW for text."},
                              &S::optimizer,
                              {{"auto", OptimizerChoice::kAuto},
                               {"sgd", OptimizerChoice::kSgd},
                               {"adam", OptimizerChoice::kAdam},
                               {"lamb", OptimizerChoice::kLamb},
                               {"lars", OptimizerChoice::kLars}}),
      number({"learning_rate", kModel, "Step size of the optimizer."}, &S::learning_rate, 0, 100,
             "one that suits the optimizer"),
      number({"momentum", kModel, "Share of the last update that SGD and LARS keep."}, &S::momentum,
             0, 1),
      number({"weight_decay", kModel,
              "Penalty on all parameters: L2 (SGD, LARS), or decoupled (AdamW, LAMB)."},
             &S::weight_decay, 0, 1),
      choice<OptimizerFusion>({"fused_optimizer", kFusion,
                               "Kernels of the update: one for all parameters, one per parameter, "
                               "or four (SGD) to seven (AdamW) elementwise ones per parameter "
                               "(published: a fused Adam saves 5 to 45 % of the step).",
                               "unfused-optimizer", try_values({"multi-tensor"})},
                              &S::fused_optimizer,
                              {{"multi-tensor", OptimizerFusion::kMultiTensor},
                               {"parameter", OptimizerFusion::kParameter},
                               {"off", OptimizerFusion::kOff}}),
      flag({"fused_bn", kFusion,
            "Run batch norm, the residual add and ReLU in one pass over memory instead of two or "
            "three (published: 660 to 1060 images/s at batch 32).",
            "unfused-elementwise", try_values({"on"})},
           &S::fused_bn),
      flag({"fused_ln", kFusion,
            "Run layer norm, and the residual add before it, as one kernel instead of nine "
            "elementwise ones (published: 4 % of the step).",
            "unfused-elementwise", try_values({"on"})},
           &S::fused_ln),
      flag(
          {"fused_attention", kFusion,
           "Run attention as one kernel that keeps the scores in the cache, instead of seven (nine "
           "with shifted windows).",
           "unfused-attention", try_values({"on"})},
          &S::fused_attention),
      flag({"fused_bias_act", kFusion,
            "Add biases inside the preceding product or the following GELU instead of in separate "
            "kernels.",
            "unfused-elementwise", try_values({"on"})},
           &S::fused_bias_act),
      choice<bool>(
          {"rnn", kFusion,
           "A recurrent layer as one persistent kernel over all time steps, or as a product "
           "and a cell for each of them.",
           "rnn-not-persistent", try_values({"persistent"})},
          &S::persistent_rnn, {{"persistent", true}, {"standard", false}}),
      flag({"fused_loss", kFusion,
            "Softmax and cross entropy as one kernel each way instead of two.",
            "unfused-elementwise", try_values({"on"})},
           &S::fused_loss),
      choice<GraphCompiler>(
          {"graph_compiler", kFusion,
           "Join elementwise ops that follow one another into one loop each, gradients included, "
           "compiled at run time on cuda (by NVRTC where it is found) or interpreted; off: each op "
           "is a loop of its own (published: XLA up to 3 times).",
           "unfused-elementwise", try_values({"on"})},
          &S::graph_compiler,
          {{"on", GraphCompiler::kOn},
           {"interpreted", GraphCompiler::kInterpreted},
           {"off", GraphCompiler::kOff}}),
      choice<bool>(
          {"layout", kLayout,
           "Order of images in memory: NHWC throughout, or NCHW for convolutions alone, as with a "
           "library "
           "that has no other kernels, which needs a transpose before and after each of them.",
           "layout-transposes", try_values({"nhwc"}, has_convolutions)},
          &S::channels_first, {{"nhwc", false}, {"nchw", true}}),
      choice<bool>({"dgrad", kLayout,
                    "Data gradients of strided convolutions: directly, or the slow way of a "
                    "library without a "
                    "kernel for strides, with zeros inserted between the gradients and a "
                    "convolution over all "
                    "places (published: up to 25 times for a single one, cuDNN 8.1).",
                    "slow-strided-dgrad", try_values({"fast"}, has_convolutions)},
                   &S::slow_dgrad, {{"fast", false}, {"slow", true}}),
      choice<Assign>(
          {"assign", kPlacement,
           "Where ssd matches boxes to anchors: in the loader's workers, or on the "
           "device, for the whole batch in three kernels (SimOTA: five), or in as many "
           "per image (published: SimOTA 384 to 69 ms, batched).",
           "serial-per-sample", try_values({"loader", "batched"}, is_ssd, assign_fits_matching)},
          &S::assign,
          {{"loader", Assign::kLoader},
           {"batched", Assign::kBatched},
           {"per-sample", Assign::kPerSample}}),
      choice<bool>(
          {"coords", kPlacement,
           "Where ssd picks the places of the anchors that the loss counts: on the device, or on "
           "the "
           "processor, with copies there and back that the device waits for (published: 9.69 ms to "
           "32 µs for such an operator).",
           "host-round-trip", try_values({"device"}, is_ssd)},
          &S::coords_on_processor, {{"device", false}, {"host-round-trip", true}}),
      choice<Precision>(
          {"precision", kPrecision,
           "Number formats: FP32; TF32 operands of matrix products; AMP O1 (FP16 operands by "
           "casts, "
           "listed by op) or O2 (FP16 but for normalisation and loss, FP32 master parameters), "
           "both "
           "with dynamic loss scaling; BF16 with master parameters. The host device rounds FP32 "
           "numbers to the format, so it shows what precision does to the loss and to the kernels, "
           "not the speed of tensor cores (published: AMP 3 times, TF32 up to 10).",
           "no-tensor-cores, amp-casts", try_when_allowed({"tf32", "bf16", "amp-o2"})},
          &S::precision,
          {{"fp32", Precision::kFp32},
           {"tf32", Precision::kTf32},
           {"amp-o1", Precision::kAmpO1},
           {"amp-o2", Precision::kAmpO2},
           {"bf16", Precision::kBf16}}),
      choice<InferPrecision>(
          {"infer_precision", kInference,
           "Number format of inference: FP32; TF32 operands of products; FP16 or BF16 throughout; "
           "INT8 operands of products with "
           "a scale for each output channel of the weights and one for each activation, which "
           "calibration finds, and FP16 "
           "around them (published: TensorRT, 11 times FP32 on a T4).",
           "inference-precision", try_when_allowed({"fp16", "int8"}, infers)},
          &S::infer_precision,
          {{"fp32", InferPrecision::kFp32},
           {"tf32", InferPrecision::kTf32},
           {"fp16", InferPrecision::kFp16},
           {"bf16", InferPrecision::kBf16},
           {"int8", InferPrecision::kInt8}}),
      integer({"train_steps", kInference,
               "Steps to train before inference where checkpoint names no file."},
              &S::train_steps, 0, 1000000, "random parameters"),
      integer(
          {"generate", kInference,
           "Inference with a transformer: tokens that each sequence gets after its prompt, one a "
           "step; the prompt has the other tokens of --sequence."},
          &S::generate, 0, 1048576, "none, whole batches run forward"),
      flag({"kv_cache",
            kInference,
            "Generated tokens: keep keys and values of earlier tokens, or compute all tokens again "
            "for each new one.",
            {},
            try_values({"on"}, generates)},
           &S::kv_cache),
      flag({"fold_bn", kInference,
            "Inference: multiply what batch norm does into the weights and the bias of the "
            "convolution before it.",
            "inference-precision", try_values({"on"}, infers)},
           &S::fold_bn),
      flag({"fused_epilogue", kInference,
            "Inference: add bias and residual and apply ReLU or GELU inside the product.",
            "inference-precision", try_values({"on"}, infers)},
           &S::fused_epilogue),
      choice<Calibration>({"calibrate_by", kInference,
                           "How the largest INT8 activation is chosen: the largest value, the one "
                           "with the least information loss (Kullback-Leibler divergence of the "
                           "histogram, as in TensorRT), or the percentile calibrate_percentile."},
                          &S::calibration,
                          {{"entropy", Calibration::kEntropy},
                           {"max", Calibration::kMax},
                           {"percentile", Calibration::kPercentile}}),
      integer({"calibrate_samples", kInference,
               "Training samples for calibration, without augmentation."},
              &S::calibration_samples, 1, 1000000),
      number({"calibrate_percentile", kInference, "Percentile of an activation's absolute values."},
             &S::calibration_percentile, 50, 100),
      choice<DataKind>(
          {"data", kData,
           "Training data; auto takes Fashion-MNIST (images), the files of text_dir (text) or the "
           "message catalogues of pairs_dir (gnmt) where they are installed, else generated shapes "
           "or sentences, and says so. Pictures are JPEG and PNG files of any size in colour, a "
           "folder per class; generated ones stand in where there are none. ssd puts such pictures "
           "together on backgrounds (auto, pictures), generated shapes where there are none, or "
           "reads box_dir (coco)."},
          &S::data,
          {{"auto", DataKind::kAuto},
           {"fashion-mnist", DataKind::kFashionMnist},
           {"text", DataKind::kText},
           {"generated", DataKind::kGenerated},
           {"pictures", DataKind::kPictures},
           {"generated-pictures", DataKind::kGeneratedPictures},
           {"coco", DataKind::kCoco}}),
      text(
          {"data_dir", kData, "Folder of the Fashion-MNIST files (Debian: dataset-fashion-mnist)."},
          &S::data_dir, "a folder"),
      text({"picture_dir", kData,
            "Folder of pictures, one subfolder per class (Debian: openclipart-png)."},
           &S::picture_dir, "a folder"),
      one_of({"image_size", kData,
              "Height and width of training images, in pixels; ssd has 8732 anchors at 300."},
             &S::image_size, {32, 64, 96, 128, 224, 300}),
      text({"box_dir", kData,
            "Folder of pictures and their boxes in annotations.json (COCO format), for ssd."},
           &S::box_dir, "a folder"),
      text({"text_dir", kData,
            "Folder whose files, gzipped or not, are the text (Debian: manpages)."},
           &S::text_dir, "a folder"),
      text({"pairs_dir", kData,
            "Folder whose message catalogues (*.mo) hold gnmt's sentences and their translations."},
           &S::pairs_dir, "a folder"),
      text({"cache_dir", kData,
            "Where small files and shards are laid out once; empty: headway-train in "
            "$XDG_CACHE_HOME or "
            "~/.cache."},
           &S::cache_dir, "a folder"),
      integer({"samples", kData, "Use only the first N training samples."}, &S::samples, 0,
              100000000, "all"),
      choice<SourceKind>(
          {"source", kInput,
           "Where images are read from: one PNG file each, packed shards of 1000, or memory.",
           "small-files, input-bound", try_values({"shards", "memory"})},
          &S::source,
          {{"files", SourceKind::kFiles},
           {"shards", SourceKind::kShards},
           {"memory", SourceKind::kMemory}}),
      choice<Decode>(
          {"decode", kInput,
           "Decode images in every step, or once, into shards of pixels; or leave the second half "
           "of a JPEG (inverse DCT, colours) to the device, with augment_on device.",
           "input-bound", try_values({"offline"})},
          &S::decode,
          {{"step", Decode::kStep}, {"offline", Decode::kOffline}, {"device", Decode::kDevice}}),
      flag({"worker_reuse", kInput,
            "Keep workers across epochs, or restart them, with no batch made across epochs.",
            "step-outlier", try_values({"on"})},
           &S::worker_reuse),
      number({"worker_start_ms", kInput, "Emulated: time to start a worker.", "step-outlier"},
             &S::worker_start_ms, 0, 100000, "nothing"),
      integer({"workers", kInput, "Threads that make batches.", "input-bound", try_doubling(0, 64)},
              &S::workers, 0, 256, "the training thread makes them"),
      integer({"prefetch", kInput, "Batches prefetched by the loader.", "input-bound",
               try_doubling(1, 64)},
              &S::prefetch, 1, 1024),
      flag({"shuffle", kInput, "Visit the images in another order every epoch."}, &S::shuffle),
      choice<Balance>(
          {"balance", kInput,
           "Sentences of a batch: of similar length, or of any length, padded to the longest.",
           "uneven-batches, step-outlier"},
          &S::balance, {{"sorted", Balance::kSorted}, {"random", Balance::kRandom}}),
      flag({"augment", kInput, "Random shifts or crops, flips, and colours of pictures."},
           &S::augment),
      choice<bool>({"augment_on", kInput,
                    "Where images are cropped, flipped, resized, coloured and normalised: in the "
                    "loader's workers, or on the device, which receives 8-bit pixels.",
                    "input-bound", try_values({"device"})},
                   &S::augment_on_device, {{"workers", false}, {"device", true}}),
      number({"read_first_ms", kInput,
              "Emulated: reading the whole data set before the first step, instead of while "
              "training.",
              "long-startup"},
             &S::read_first_ms, 0, 1000000, "nothing"),
      choice<StorageKind>(
          {"storage", kInput,
           "Emulated storage: latency, bandwidth and readers at once of a kind of storage, as its "
           "public documentation has them; machine: that of the machine. storage_latency_ms and "
           "storage_mb_per_s replace their part.",
           "slow-storage, small-files"},
          &S::storage,
          {{"machine", StorageKind::kMachine},
           {"nvme", StorageKind::kNvme},
           {"network-disk", StorageKind::kNetworkDisk},
           {"lustre", StorageKind::kLustre},
           {"object-store", StorageKind::kObjectStore}}),
      number({"shard_mb", kInput,
              "Device sim: size of the shards that each worker reads one after the other. Other "
              "devices have shards of 1000 images.",
              "slow-storage, input-bound"},
             &S::shard_mb, 0, 4096, "a batch's part of a shard is one request"),
      choice<ShardRead>(
          {"shard_read", kInput,
           "With shard_mb: read a shard whole before its first sample is used, or use "
           "samples as they arrive, as from a pipe.",
           "input-bound"},
          &S::shard_read, {{"stream", ShardRead::kStream}, {"file", ShardRead::kFile}}),
      flag({"shard_split", kInput,
            "With shard_mb: each rank reads its own shards, or every rank reads all of them and "
            "keeps its share of the samples.",
            "slow-storage"},
           &S::shard_split),
      number(
          {"host_memory_gb",
           kInput,
           "With shard_mb: memory for a rank's loader, its batches and shards; more workers than "
           "fit are refused.",
           {}},
          &S::host_memory_gb, 0, 100000, "enough"),
      number({"storage_latency_ms", kInput,
              "Emulated storage: time that every open and every read takes, overlapping between "
              "workers.",
              "input-bound, small-files"},
             &S::storage_latency_ms, 0, 10000, "none"),
      number({"storage_mb_per_s", kInput, "Emulated storage: bandwidth that all workers share.",
              "input-bound"},
             &S::storage_mb_per_s, 0, 1000000, "no limit"),
      flag({"pinned",
            kInput,
            "Make batches in pinned memory, which the device can copy by itself.",
            {},
            try_values({"on"})},
           &S::pinned),
      choice<CopyMode>({"h2d", kInput,
                        "Copies of batches to the device: the host waits for them, they run in the "
                        "compute stream, or one step ahead on a separate stream.",
                        "copy-not-overlapped", try_values({"prefetch"})},
                       &S::h2d,
                       {{"prefetch", CopyMode::kPrefetch},
                        {"async", CopyMode::kAsync},
                        {"blocking", CopyMode::kBlocking}}),
      number(
          {"link_mb_per_s", kInput, "Emulated link between host and device memory: its bandwidth.",
           "copy-not-overlapped"},
          &S::link_mb_per_s, 0, 1000000, "as fast as memory"),
      sync_switch(),
      choice<LossRead>(
          {"loss_read", kLaunch,
           "Read the loss at the end of each step, waiting for the device, or later, when "
           "the step has passed anyway.",
           "host-sync", try_values({"deferred"})},
          &S::loss_read, {{"deferred", LossRead::kDeferred}, {"step", LossRead::kStep}}),
      integer({"loss_every", kLaunch, "Read the loss every N steps."}, &S::loss_every, 1, 1000000),
      integer({"run_ahead",
               kLaunch,
               "Steps that the host may run ahead of the device.",
               {},
               try_doubling(1, 8)},
              &S::run_ahead, 1, 8),
      number({"launch_us", kLaunch,
              "Emulated framework: host time per kernel launch, spent spinning on the training "
              "thread.",
              "launch-bound"},
             &S::launch_us, 0, 100000, "only what our own launch costs"),
      flag({"cuda_graph", kLaunch,
            "Launch all kernels of a phase with one call from the second step on, as a CUDA graph; "
            "on the host "
            "device as a recorded queue. Buckets that are exchanged during the backward pass, "
            "parameters that are gathered, and what the processor computes, cut it into several.",
            "launch-bound", try_values({"on"}, may_join_launches)},
           &S::cuda_graph),
      choice<bool>(
          {"module_loading", kLaunch,
           "When device code is loaded and compiled: for all shapes before the first step, or for "
           "each when a step first has it. The programs' shapes are emulated: every fourth step "
           "has a new one, whose code takes load_code_ms.",
           "module-load", try_values({"eager"}, loads_code)},
          &S::lazy_loading, {{"eager", false}, {"lazy", true}}),
      number(
          {"load_code_ms", kLaunch, "Emulated: time to load the code of a shape.", "module-load"},
          &S::load_code_ms, 0, 10000, "nothing"),
      choice<DeviceSchedule>(
          {"device_schedule", kLaunch,
           "How the training thread and the host device wait for each other: asleep, as with "
           "CUDA's "
           "cudaDeviceScheduleBlockingSync, or polling, as with cudaDeviceScheduleSpin. Waking "
           "takes tens of microseconds; polling takes a core.",
           "", try_values({"spin"}, on_host)},
          &S::device_schedule,
          {{"blocking", DeviceSchedule::kBlocking}, {"spin", DeviceSchedule::kSpin}}),
      flag(
          {"split_k", kLaunch,
           "Device sim: matrix products whose blocks leave multiprocessors without work split each "
           "sum among more of them, as an autotuner finds it best.",
           "gemm-efficiency, low-occupancy", try_values({"on"}, simulates_products)},
          &S::split_k),
      integer({"pause_every", kLaunch,
               "Emulated: the host pauses before every n-th step, on all ranks; 0: never; -1: as "
               "drawn by --world, never without it.",
               "host-pauses"},
              &S::pause_every, -1, 1000000),
      number({"pause_ms", kLaunch, "Length of these pauses.", "host-pauses"}, &S::pause_ms, 0,
             100000),
      number({"pause_growth_ms", kLaunch, "Each pause is longer than the one before by this.",
              "step-growth"},
             &S::pause_growth_ms, 0, 1000),
      choice<PauseFor>(
          {"pause_for", kLaunch,
           "Work of the training thread in these pauses, named by a range: nothing (the thread "
           "sleeps, without a range), work between steps, or metrics, inside each n-th step.",
           "evaluation-time, checkpoint-time, logging-time, garbage-collection, loader-restart, "
           "host-bound"},
          &S::pause_for,
          {{"nothing", PauseFor::kNothing},
           {"evaluation", PauseFor::kEvaluation},
           {"checkpoint", PauseFor::kCheckpoint},
           {"logging", PauseFor::kLogging},
           {"garbage-collection", PauseFor::kGarbageCollection},
           {"worker-restart", PauseFor::kWorkerRestart},
           {"metrics", PauseFor::kMetrics}}),
      integer(
          {"ranks", kRanks,
           "Ranks that train together, each on its share of the images: processes of this host, "
           "or simulated ones."},
          &S::ranks, 1, 65536),
      choice<CommKind>(
          {"comm", kRanks,
           "How ranks reach each other: shared memory, MPI, or what the launcher means "
           "(torchrun: shm; mpirun: mpi where it was built in). GPUs: by NCCL, which auto takes "
           "where "
           "each rank has a GPU, or through host memory and one of the others."},
          &S::comm,
          {{"auto", CommKind::kAuto},
           {"shm", CommKind::kShm},
           {"mpi", CommKind::kMpi},
           {"nccl", CommKind::kNccl}}),
      flag({"overlap", kRanks,
            "Exchange a bucket of gradients as soon as the backward pass has filled it, or all "
            "after "
            "the last gradient.",
            "comm-not-overlapped", try_values({"on"}, several_ranks)},
           &S::overlap),
      number({"first_bucket_mb", kRanks, "Size of the first bucket in MiB.", "comm-too-small",
              try_doubling(1, 256, several_ranks)},
             &S::first_bucket_mb, 0, 4096, "one gradient"),
      number({"bucket_mb", kRanks, "Size of the other buckets in MiB.", "comm-too-small",
              try_doubling(1, 256, several_ranks)},
             &S::bucket_mb, 0, 4096, "one gradient"),
      integer({"accumulate", kRanks,
               "Micro batches whose gradients are added up before they are exchanged and applied."},
              &S::accumulate, 1, 1024),
      flag(
          {"sum_each_batch", kRanks,
           "Exchange the gradients of each micro batch, as DistributedDataParallel does outside of "
           "no_sync(), or only their sums.",
           "comm-each-batch", try_values({"off"}, accumulates_on_ranks)},
          &S::sum_each_batch),
      integer(
          {"local_steps", kRanks,
           "Steps that each rank makes alone before the parameters are averaged over the ranks "
           "(local SGD); momentum and other state of the optimizer stay local. 1: gradients are "
           "exchanged in every step. The last step averages, too.",
           "comm-exposed, comm-slow-link"},
          &S::local_steps, 1, 1000000),
      choice<Compression>(
          {"compress", kRanks,
           "Gradients travel in full, as half floats, as 8-bit integers, as their largest values, "
           "as low-rank matrices, or as signs; the error is added to the next step.",
           "comm-exposed"},
          &S::compress,
          {{"none", Compression::kNone},
           {"fp16", Compression::kHalf},
           {"int8", Compression::kInt8},
           {"dgc", Compression::kDgc},
           {"powersgd", Compression::kPowerSgd},
           {"onebit", Compression::kOneBit}}),
      number({"dgc_density", kRanks, "Share of the values that dgc sends after its warm-up."},
             &S::dgc_density, 0.0001, 1),
      integer({"dgc_warm_up", kRanks, "Steps in which dgc sends more."}, &S::dgc_warm_up, 0,
              1000000),
      number({"dgc_clip", kRanks,
              "Largest norm of the gradients that dgc adds up; each rank's part of it is this over "
              "the root of the number of ranks, and a bucket's is its share by values."},
             &S::dgc_clip, 0, 1000000, "none"),
      integer({"powersgd_rank", kRanks, "Rank of powersgd's matrices."}, &S::powersgd_rank, 1, 64),
      choice<Topology>(
          {"topology", kRanks,
           "One ring over all ranks, rings inside nodes and across them, or "
           "everything through rank "
           "0.",
           "comm-slow-link, comm-exposed", try_values({"flat", "hierarchical"}, several_ranks)},
          &S::topology,
          {{"flat", Topology::kFlat},
           {"hierarchical", Topology::kHierarchical},
           {"parameter-server", Topology::kParameterServer}}),
      choice<PipelineSchedule>({"pipeline", kRanks,
                                "Devices host and sim: the ranks are stages of a pipeline, each "
                                "with its part of the transformer's blocks. "
                                "gpipe makes all forward passes of the micro batches before their "
                                "backward passes, 1f1b one of "
                                "each in turns.",
                                "pipeline-bubble"},
                               &S::pipeline,
                               {{"off", PipelineSchedule::kOff},
                                {"gpipe", PipelineSchedule::kGpipe},
                                {"1f1b", PipelineSchedule::k1F1B}}),
      integer({"micro_batches", kRanks,
               "Of a pipeline: parts that a batch is cut into; stages are idle for (stages - 1) of "
               "(micro batches + stages - 1) of the time.",
               "pipeline-bubble", try_doubling(1, 256, is_pipeline)},
              &S::micro_batches, 1, 1024),
      flag({"shard_parameters", kRanks,
            "Devices host and sim: each rank keeps its share of the parameters, their gradients "
            "and the optimizer's state, as FSDP and ZeRO-3 do. A unit (a block of the model) is "
            "gathered before its forward and its backward pass, and its gradients are "
            "reduce-scattered after that.",
            "late-all-gather, comm-exposed"},
           &S::shard_parameters),
      flag(
          {"gather_prefetch", kRanks,
           "With sharded parameters: gather a unit during the unit before it, or only at its turn.",
           "late-all-gather", try_values({"on"}, shards_parameters)},
          &S::gather_prefetch),
      flag({"expert_parallel", kRanks,
            "Each rank holds an equal part of every block's experts; all-to-alls exchange the "
            "tokens.",
            "expert-imbalance, comm-exposed"},
           &S::expert_parallel),
      flag(
          {"tensor_parallel", kRanks,
           "Devices host and sim: all ranks share each block of the transformer, its heads and the "
           "columns of its wide layer (Megatron). All work on one batch; two all-reduces of "
           "activations a block and direction are on the critical path.",
           "comm-exposed, comm-slow-link"},
          &S::tensor_parallel),
      flag({"sequence_parallel", kRanks,
            "With tensor parallelism: norms, dropout and sums between the shared products are "
            "dealt out by tokens; reduce-scatters and all-gathers take the place of all-reduces.",
            "comm-exposed, comm-slow-link"},
           &S::sequence_parallel),
      integer({"ranks_per_node", kRanks, "Ranks per node; they share its network."},
              &S::ranks_per_node, 1, 1024),
      number({"node_gb_per_s", kRanks, "Emulated link of a rank to the others of its node.",
              "comm-exposed"},
             &S::node_gb_per_s, 0, 10000, "unlimited; simulated: the GPU's"),
      number({"network_gb_per_s", kRanks, "Emulated network of a node.", "comm-slow-link"},
             &S::network_gb_per_s, 0, 10000, "unlimited; simulated: 50 per rank"),
      number({"network_us", kRanks, "Emulated network: latency of a hop."}, &S::network_us, 0,
             1000000, "what it is; simulated: 5"),
      integer({"slow_rank", kRanks, "Rank that is late in every step.", "straggler"}, &S::slow_rank,
              -1, 65535),
      number({"slow_rank_ms", kRanks, "Its delay per step.", "straggler"}, &S::slow_rank_ms, 0,
             100000),
      number({"comm_timeout_s", kRanks, "Time limit for a missing rank."}, &S::comm_timeout_s, 1,
             86400),
      choice<DeviceKind>(
          {"device", kDevice,
           "Where the arithmetic runs: on the processor, on an NVIDIA GPU, or "
           "nowhere: sim runs the same host program on a virtual clock, with the "
           "times of a GPU."},
          &S::device,
          {{"host", DeviceKind::kHost}, {"cuda", DeviceKind::kCuda}, {"sim", DeviceKind::kSim}}),
      text({"gpu", kDevice, "The GPU that sim simulates."}, &S::gpu,
           "v100, a100, h100, h200, b200, l4, ... (a wrong one lists all)"),
      integer({"world", kDevice,
               "Seed of the machine that sim simulates: how well kernels use the GPU, what calls, "
               "storage and "
               "network take, noise, pauses, a throttled clock, and how streams slow each other "
               "down. The GPU's "
               "peaks stay. The oracle tells what was drawn, the trace does not."},
              &S::world, 0, 1000000000, "that of the tables, without noise"),
      number({"clock", kDevice,
              "Simulated: clock of the multiprocessors, as a share of the highest; the power limit "
              "holds it down. Memory keeps its own.",
              "clock-throttled"},
             &S::clock, 0.1, 1),
      number({"jitter", kDevice, "Simulated durations vary by this share at most."}, &S::jitter, 0,
             0.9, "not at all"),
      integer(
          {"host_cores", kDevice,
           "Simulated processor cores per rank; more threads that compute slow each other down.",
           "workers-oversubscribed"},
          &S::host_cores, 1, 4096),
      number({"memory_gb_per_s", kDevice,
              "Emulated device memory: no kernel takes less than its bytes over this bandwidth. "
              "Six per "
              "thread is the balance of a GPU between arithmetic and memory.",
              "unfused-elementwise, unfused-optimizer"},
             &S::memory_gb_per_s, 0, 100000, "what the processor has"),
      choice<bool>(
          {"allocator", kDevice,
           "Memory of activations, gradients and scratch space: planned once, which is where a "
           "caching allocator ends up, or got from the device's allocator before each op and given "
           "back after it, and a free waits for the device (published: 66 µs for a cudaMalloc with "
           "its cudaFree).",
           "allocator", try_values({"caching"})},
          &S::raw_allocator, {{"caching", false}, {"raw", true}}),
      flag({"recompute", kDevice,
            "Keep only the input of each transformer block, and recompute its activations in the "
            "backward pass: less memory for about a third more arithmetic.",
            "recomputation", try_values({"off"})},
           &S::recompute),
      integer({"threads",
               kDevice,
               "Processor threads that compute one op together.",
               {},
               try_doubling(1, 64, on_host)},
              &S::threads, 0, 1024, "one less than the cores, at most 8"),
  };
}

std::string normal_name(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

}  // namespace

Settings with_micro_batches(Settings settings) {
  if (settings.pipeline == PipelineSchedule::kOff) return settings;
  settings.batch /= settings.micro_batches;
  settings.accumulate = settings.micro_batches;
  return settings;
}

bool assign_fits_matching(const Settings& s) {
  return s.matching == Matching::kOverlap || s.assign != Assign::kLoader;
}

std::span<const Switch> all_switches() {
  static const std::vector<Switch> kSwitches = make_switches();
  return kSwitches;
}

const Switch& find_switch(std::string_view name) {
  const auto switches = all_switches();
  const std::string wanted = normal_name(name);
  const auto found = std::ranges::find(switches, wanted, &Switch::name);
  if (found != switches.end()) return *found;
  std::vector<std::string> names;
  for (const Switch& each : switches) names.emplace_back(each.name);
  std::string hint;
  for (const std::string& near : closest(wanted, names, 1)) hint = " Did you mean '" + near + "'?";
  fail_usage("There is no switch '{}'.{} `headway-train --help` lists them.", escape_terminal(name),
             hint);
}

}  // namespace headway::trainer
