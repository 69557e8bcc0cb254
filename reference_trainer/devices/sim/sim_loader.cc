// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_loader.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/error.h"

namespace headway::trainer::sim {
namespace {

using conventions::RangeKind;

struct StageNames {
  nvtx::Name batch = nvtx::intern("batch");
  nvtx::Name read = nvtx::intern("read");
  nvtx::Name decode = nvtx::intern("decode");
  nvtx::Name augment = nvtx::intern("augment");
  nvtx::Name collate = nvtx::intern("collate");
};
const StageNames& names() {
  static const StageNames kNames;
  return kNames;
}

std::int64_t ns(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

/// Of a sample in storage. All batches are alike: what a few of them happen to hold would make another batch size look better
/// or worse than it is.
double mean_bytes(SampleSource& source) {
  constexpr std::int64_t kMost = 4096;
  const std::int64_t looked_at = std::min(source.count(), kMost);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < looked_at; ++i) some.push_back(i * source.count() / looked_at);
  return static_cast<double>(source.bytes(some)) / static_cast<double>(looked_at);
}

}  // namespace

void LoaderCosts::scale(double factor) {
  if (factor == 1) return;
  for (double* each :
       {&decode_per_pixel, &picture_augment_per_pixel, &jpeg_decode_per_pixel,
        &jpeg_entropy_per_pixel, &crop_per_image, &resize_per_pixel, &resize_per_source_pixel,
        &flip_per_pixel, &jitter_per_pixel, &normalise_per_pixel, &encode_per_anchor,
        &copy_per_pixel, &augment_per_pixel, &collate_per_byte, &read_per_byte})
    *each *= factor;
  open_ns = ns(static_cast<double>(open_ns) * factor);
  read_ns = ns(static_cast<double>(read_ns) * factor);
}

SimLoader::SimLoader(SimDevice& device, SampleSource& source, const LoaderOptions& options,
                     const LoaderCosts& costs, Storage::Speed storage, bool one_file_each,
                     bool decoded)
    : device_(device),
      options_(options),
      costs_(costs),
      storage_(storage),
      one_file_each_(one_file_each),
      decoded_(decoded),
      returned_(static_cast<std::size_t>(options.batches), 0),
      workers_(static_cast<std::size_t>(options.workers)) {
  const std::int64_t share = options.batch * options.ranks;
  if (source.count() < share)
    fail_usage(
        "{} rank{} with a batch of {} each need at least {} samples; there are {}. Use a smaller "
        "--batch.",
        options.ranks, options.ranks == 1 ? "" : "s", options.batch, share, source.count());
  per_epoch_ = source.count() / share;
  bytes_per_batch_ = ns(static_cast<double>(options.batch) * mean_bytes(source));
  stages_ = options.boxes.of ? box_stages() : image_stages();
  // Workers that have a batch to make, while they compute, and the training thread, while it waits for none, share the cores.
  double computing = 0;
  for (const Stage& stage : stages_) computing += stage.processor_ns;
  const auto at_once = static_cast<double>(
      std::min<std::int64_t>(options.workers, std::max<std::int64_t>(options.prefetch, 1)));
  busy_ = at_once * computing / std::max(1.0, computing + storage_ns());
  device.recording().workers = options.workers;
  channels_.assign(static_cast<std::size_t>(device.drawn().storage.channels), 0);
  for (int i = 0; i < options.in_use + 1; ++i) {
    batches_.push_back(allocate_batch(options, nullptr));
    free_.push_back(batches_.back().get());
  }
}

/// All at once, when the last batch of the epoch before was taken.
void SimLoader::start_workers(std::int64_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const std::int64_t begin =
      epoch == 0 ? 0 : returned_[static_cast<std::size_t>(epoch * per_epoch_ - 1)];
  for (Worker& worker : workers_)
    worker.free_at =
        std::max(worker.free_at, begin) +
        std::chrono::duration_cast<std::chrono::nanoseconds>(options_.worker_start).count();
}

Batch* SimLoader::next() {
  if (next_ >= options_.batches) return nullptr;
  const std::int64_t id = next_++;
  const std::int64_t asked = device_.now().count();
  if (workers_.empty()) {
    device_.rest(std::chrono::nanoseconds(make(id, asked, -1) - asked));
  } else {
    const std::int64_t ahead = std::max(options_.prefetch, 1);
    const std::int64_t room =
        id >= ahead ? returned_[static_cast<std::size_t>(id - ahead)] : std::int64_t{0};
    start_workers(options_.reuse_workers ? 0 : id / per_epoch_);
    const auto worker = std::ranges::min_element(workers_, {}, &Worker::free_at);
    const std::int64_t start = std::max(room, worker->free_at);
    auto& edges = device_.recording().edges;
    if (device_.options().record_edges) {
      const auto number = static_cast<std::uint64_t>(id);
      if (worker->last_batch >= 0)
        edges.push_back(
            {EdgeKind::kWorker, static_cast<std::uint64_t>(worker->last_batch), number, 0, -1});
      if (id >= ahead)
        edges.push_back({EdgeKind::kSlot, static_cast<std::uint64_t>(id - ahead), number, 0, -1});
      edges.push_back({EdgeKind::kBatch, number, number, 0, -1});
    }
    const std::int64_t made = make(id, start, static_cast<std::int32_t>(worker - workers_.begin()));
    worker->free_at = made;
    worker->last_batch = id;
    note_wait(asked, std::max(made, asked));
    if (made > asked) device_.rest(std::chrono::nanoseconds(made - asked));
  }
  returned_[static_cast<std::size_t>(id)] = device_.now().count();
  HEADWAY_INVARIANT(!free_.empty());
  Batch* batch = free_.back();
  free_.pop_back();
  batch->id = id;
  batch->rows = options_.batch;
  if (options_.packed)
    batch->image_bytes = options_.packed->places().payload + options_.packed->usual_payload;
  return batch;
}

double SimLoader::stretch() const {
  // The training thread sleeps often, and is served at once when it wakes up: workers get what it leaves, however many they
  // are, but no less than a thread's part.
  const double left = std::max(costs_.cores - training_, costs_.cores / (busy_ + 1));
  return std::max(1.0, busy_ / left);
}

void SimLoader::note_wait(std::int64_t asked, std::int64_t made) {
  // By time, since workers often deliver together; what the last batches showed, of each worker some.
  const double kept = 1 - 1 / (4 + static_cast<double>(workers_.size()));
  trained_ns_ = kept * trained_ns_ + static_cast<double>(asked - last_return_);
  passed_ns_ = kept * passed_ns_ + static_cast<double>(made - last_return_);
  if (passed_ns_ > 0) training_ = std::clamp(trained_ns_ / passed_ns_, 0.0, 1.0);
  last_return_ = made;
}

void SimLoader::give_back(Batch* batch) {
  free_.push_back(batch);
}

double SimLoader::read_processor_ns() const {
  if (bytes_per_batch_ == 0) return 0;  // in memory
  return static_cast<double>(requests() * (costs_.open_ns + costs_.read_ns)) +
         costs_.read_per_byte * static_cast<double>(bytes_per_batch_);
}

double SimLoader::storage_ns() const {
  if (bytes_per_batch_ == 0) return 0;
  const double latency = 1e9 * std::chrono::duration<double>(storage_.latency).count();
  const double transfer =
      storage_.bytes_per_second > 0
          ? 1e9 * static_cast<double>(bytes_per_batch_) / storage_.bytes_per_second
          : 0;
  return static_cast<double>(2 * requests()) * latency + transfer;
}

double SimLoader::cold(std::int64_t batch) const {
  const auto& storage = device_.drawn().storage;
  return storage.warm_after > 0 && batch >= storage.warm_after ? 1 / storage.warm_speed : 1;
}

/// End of reading. Requests of one worker follow each other; transfers of all share the bandwidth, and a drawn storage
/// serves only so many readers at once.
std::int64_t SimLoader::read(std::int64_t batch, std::int64_t start, double processor_ns) {
  if (bytes_per_batch_ == 0) return start;
  const double noise = device_.noise(device_.drawn().noise.loader, 0x4EAD, batch) * cold(batch);
  const auto latency = static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(storage_.latency).count());
  std::int64_t* channel = nullptr;
  if (!channels_.empty()) {
    channel = &*std::ranges::min_element(channels_);
    start = std::max(start, *channel);
  }
  const auto opens = static_cast<double>(requests() * costs_.open_ns);
  opened_at_ =
      start + ns(static_cast<double>(requests()) * latency * noise) + ns(opens * stretch());
  const std::int64_t asked = start + ns(static_cast<double>(2 * requests()) * latency * noise) +
                             ns(processor_ns * stretch());
  std::int64_t end = asked;
  if (storage_.bytes_per_second > 0) {
    const std::int64_t transfer =
        ns(static_cast<double>(bytes_per_batch_) / storage_.bytes_per_second * 1e9 * noise);
    storage_free_at_ = std::max(start, storage_free_at_) + transfer;
    end = std::max(asked + transfer, storage_free_at_);
  }
  if (channel) *channel = end;
  return end;
}

std::int64_t SimLoader::make(std::int64_t batch, std::int64_t start, std::int32_t worker) {
  const std::int64_t made = options_.packed ? options_.packed->usual_payload
                                            : options_.batch * options_.height * options_.width *
                                                  options_.channels * std::int64_t{sizeof(float)};
  auto add = [&](RangeKind kind, nvtx::Name name, std::int64_t from, std::int64_t bytes) {
    RangeRecord record;
    record.start = from;
    record.name = name;
    record.worker = worker;
    record.payload = stage_payload(kind, batch, bytes);
    device_.recording().ranges.push_back(record);
    return device_.recording().ranges.size() - 1;
  };
  const bool recorded = device_.options().record_events;
  const std::size_t whole = recorded ? add(RangeKind::kBatch, names().batch, start, made) : 0;
  auto& ranges = device_.recording().ranges;
  std::int64_t at = start;
  for (const Stage& stage : stages_) {
    const std::size_t range = recorded ? add(stage.kind, stage.name, at, stage.bytes) : 0;
    at = stage.kind == RangeKind::kRead
             ? read(batch, at, stage.processor_ns)
             : at + ns(stage.processor_ns * stretch() * device_.jitter(0x10AD, batch) *
                       device_.noise(device_.drawn().noise.loader, 0x10AD, batch));
    if (recorded) ranges[range].end = at;
    if (recorded && stage.kind == RangeKind::kRead) record_files(ranges[range].start, at, worker);
  }
  if (recorded) ranges[whole].end = at;
  return at;
}

/// What `headway record --io` would have seen.
void SimLoader::record_files(std::int64_t start, std::int64_t end, std::int32_t worker) {
  if (bytes_per_batch_ == 0) return;
  auto& files = device_.recording().files;
  files.push_back({start, opened_at_, requests(), 0, worker, false});
  files.push_back({opened_at_, end, requests(), bytes_per_batch_, worker, true});
}

/// Of a batch, as they are in storage.
double SimLoader::source_pixels() const {
  if (decoded_)
    return static_cast<double>(options_.batch * options_.canvas_height * options_.canvas_width);
  return static_cast<double>(bytes_per_batch_) * costs_.jpeg_pixels_per_byte;
}

/// What decoding takes, as far as the loader does it.
double SimLoader::decode_ns() const {
  if (options_.channels != 3) {
    const double each =
        bytes_per_batch_ == 0 || decoded_ ? costs_.copy_per_pixel : costs_.decode_per_pixel;
    return each * static_cast<double>(options_.batch * options_.height * options_.width);
  }
  if (decoded_) return costs_.copy_per_pixel * source_pixels();
  if (options_.packed && options_.packed->kind == PackedFormat::Kind::kJpegs)
    return costs_.jpeg_entropy_per_pixel * source_pixels();
  if (options_.boxes.of) return costs_.jpeg_decode_per_pixel * source_pixels();
  const auto canvas =
      static_cast<double>(options_.batch * options_.canvas_height * options_.canvas_width);
  return (costs_.jpeg_decode_per_pixel + costs_.resize_per_source_pixel) * source_pixels() +
         costs_.resize_per_pixel * canvas;
}

std::vector<SimLoader::Stage> SimLoader::image_stages() const {
  const bool pictures = options_.channels == 3;
  const std::int64_t pixels = options_.batch * options_.height * options_.width;
  const std::int64_t decoded =
      pictures ? options_.batch * options_.canvas_height * options_.canvas_width : pixels;
  const std::int64_t floats = pixels * options_.channels * std::int64_t{sizeof(float)};
  const auto& packed = options_.packed;
  const std::int64_t collated = packed ? packed->places().payload : floats;
  std::vector<Stage> stages = {
      {RangeKind::kRead, names().read, read_processor_ns(), bytes_per_batch_},
      {RangeKind::kDecode, names().decode, decode_ns(),
       packed ? packed->usual_payload : decoded * options_.channels}};
  if (!packed)
    stages.push_back({RangeKind::kAugment, names().augment,
                      static_cast<double>(pixels) *
                          (pictures ? costs_.picture_augment_per_pixel : costs_.augment_per_pixel),
                      floats});
  stages.push_back({RangeKind::kCollate, names().collate,
                    static_cast<double>(collated) * costs_.collate_per_byte, collated});
  return stages;
}

std::vector<SimLoader::Stage> SimLoader::box_stages() const {
  const auto pixels = static_cast<double>(options_.batch * options_.height * options_.width);
  const auto images = static_cast<double>(options_.batch);
  const std::int64_t bytes = options_.batch * options_.height * options_.width * 3;
  const std::int64_t targets = 20 * options_.batch * options_.boxes.per_image();
  const auto& packed = options_.packed;
  const std::int64_t collated = packed ? packed->places().payload : 4 * bytes;
  struct Cost {
    double nanoseconds;
    std::int64_t bytes;
  };
  auto cost = [&](BoxStage stage) -> Cost {
    switch (stage) {
      case BoxStage::kRead:
        return {read_processor_ns(), bytes_per_batch_};
      case BoxStage::kDecode:
        return {decode_ns(),
                packed ? packed->usual_payload : static_cast<std::int64_t>(3 * source_pixels())};
      case BoxStage::kCrop:
        return {images * costs_.crop_per_image, targets};
      case BoxStage::kResize:
        return {pixels * costs_.resize_per_pixel + source_pixels() * costs_.resize_per_source_pixel,
                bytes};
      case BoxStage::kFlip:
        return packed ? Cost{0, targets} : Cost{pixels * costs_.flip_per_pixel, bytes};
      case BoxStage::kJitter:
        return {pixels * costs_.jitter_per_pixel, 4 * bytes};
      case BoxStage::kNormalise:
        return {pixels * costs_.normalise_per_pixel, 4 * bytes};
      case BoxStage::kEncode:
        return {static_cast<double>(targets) / 20 * costs_.encode_per_anchor, targets};
      case BoxStage::kCollate:
        return {static_cast<double>(collated + targets) * costs_.collate_per_byte,
                collated + targets};
    }
    return {0, 0};
  };
  std::vector<Stage> stages;
  for (const BoxStageName& each : kBoxStages) {
    if (!has_stage(options_, each.stage)) continue;
    const Cost is = cost(each.stage);
    stages.push_back({each.kind, nvtx::intern(each.name), is.nanoseconds, is.bytes});
  }
  return stages;
}

}  // namespace headway::trainer::sim
