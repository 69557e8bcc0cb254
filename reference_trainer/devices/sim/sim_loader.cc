// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_loader.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/error.h"
#include "common/format.h"

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

/// Number of legs that add_read adds, and the one in which the last file is opened.
constexpr std::size_t kLegsOfRead = 6;
constexpr std::size_t kLegOfOpening = 2;

std::int64_t ns(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

/// Mean size of a sample in storage. All batches use the mean: the random content of a few batches
/// would make another batch size look better or worse than it is.
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
                     const LoaderCosts& costs, const SimStorage& storage)
    : device_(device),
      options_(options),
      costs_(costs),
      storage_(storage),
      pool_(options.workers, costs.cores, storage.speed.readers),
      returned_(static_cast<std::size_t>(options.batches), 0) {
  const std::int64_t share = options.batch * options.ranks;
  if (source.count() < share)
    fail_usage(
        "{} rank{} with a batch of {} each need at least {} samples; there are {}. Use a smaller "
        "--batch.",
        options.ranks, options.ranks == 1 ? "" : "s", options.batch, share, source.count());
  per_epoch_ = source.count() / share;
  bytes_per_batch_ = ns(static_cast<double>(options.batch) * mean_bytes(source));
  check_memory();
  stages_ = options.boxes.of ? box_stages() : image_stages();
  device.recording().workers = options.workers;
  for (int i = 0; i < options.in_use + 1; ++i) {
    batches_.push_back(allocate_batch(options, nullptr));
    free_.push_back(batches_.back().get());
  }
}

SimLoader::~SimLoader() {
  device_.compete_with(nullptr);
}

/// Starts all workers at once, when the last batch of the previous epoch was taken.
void SimLoader::start_epoch(std::int64_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const std::int64_t begin =
      epoch == 0 ? 0 : returned_[static_cast<std::size_t>(epoch * per_epoch_ - 1)];
  pool_.start(begin,
              std::chrono::duration_cast<std::chrono::nanoseconds>(options_.worker_start).count());
}

void SimLoader::order() {
  if (next_ >= options_.batches) return;
  start_epoch(options_.reuse_workers ? 0 : next_ / per_epoch_);
  const std::int64_t ahead = std::max(options_.prefetch, 1);
  std::int64_t end = std::min(next_ + ahead, options_.batches);
  if (!options_.reuse_workers) end = std::min(end, (epoch_ + 1) * per_epoch_);
  for (; ordered_ < end; ++ordered_) {
    const std::int64_t room =
        ordered_ >= ahead ? returned_[static_cast<std::size_t>(ordered_ - ahead)] : std::int64_t{0};
    pool_.order(ordered_, room, legs_of(ordered_));
  }
}

Batch* SimLoader::next() {
  if (next_ >= options_.batches) return nullptr;
  const std::int64_t id = next_;
  const std::int64_t asked = device_.now().count();
  if (options_.workers == 0) {
    pool_.run_beside_training(asked);
    pool_.order(id, asked, legs_of(id));
  } else {
    if (id == 0) order();
    pool_.run_beside_training(asked);
  }
  const std::int64_t made = pool_.run_until_made(id);
  for (const MadeBatch& one : pool_.take_made()) record(one);
  if (made > asked) device_.rest(std::chrono::nanoseconds(made - asked));
  ++next_;
  returned_[static_cast<std::size_t>(id)] = device_.now().count();
  if (options_.workers > 0) {
    order();
    if (pool_.may_contend()) device_.compete_with(&pool_);
  }
  HEADWAY_INVARIANT(!free_.empty());
  Batch* batch = free_.back();
  free_.pop_back();
  batch->id = id;
  batch->rows = options_.batch;
  if (options_.packed)
    batch->image_bytes = options_.packed->places().payload + options_.packed->usual_payload;
  return batch;
}

void SimLoader::give_back(Batch* batch) {
  free_.push_back(batch);
}

/// Workers take batches in turns; each reads its own shards one after the other.
SimLoader::Read SimLoader::read_of(std::int64_t batch) const {
  if (storage_.one_file_each) return {options_.batch, bytes_per_batch_};
  if (storage_.shard_bytes == 0 || bytes_per_batch_ == 0) return {1, bytes_per_batch_};
  const std::int64_t bytes = bytes_per_batch_ * (storage_.split ? 1 : options_.ranks);
  const std::int64_t turn = batch / std::max(options_.workers, 1);
  auto begun = [&](std::int64_t turns) {
    return (turns * bytes + storage_.shard_bytes - 1) / storage_.shard_bytes;
  };
  const std::int64_t shards = begun(turn + 1) - begun(turn);
  return {shards, storage_.whole_shards ? shards * storage_.shard_bytes : bytes};
}

double SimLoader::read_processor_ns(const Read& read) const {
  return static_cast<double>(read.requests * (costs_.open_ns + costs_.read_ns)) +
         costs_.read_per_byte * static_cast<double>(read.bytes);
}

std::int64_t SimLoader::made_bytes() const {
  return options_.packed ? options_.packed->usual_payload
                         : options_.batch * options_.height * options_.width * options_.channels *
                               std::int64_t{sizeof(float)};
}

void SimLoader::check_memory() const {
  if (storage_.memory_bytes == 0) return;
  const std::int64_t ahead = std::max(options_.prefetch, 1) * made_bytes();
  const std::int64_t each =
      made_bytes() +
      (storage_.whole_shards ? std::max(storage_.shard_bytes, bytes_per_batch_) : bytes_per_batch_);
  if (ahead + each * options_.workers <= storage_.memory_bytes) return;
  fail_usage(
      "host_memory_gb: {} workers need {} for their shards and batches, and {} batches ahead {}; "
      "there is {}. It is enough "
      "for {} workers.",
      options_.workers, format_bytes(each * options_.workers), options_.prefetch,
      format_bytes(ahead), format_bytes(storage_.memory_bytes),
      std::max<std::int64_t>(0, (storage_.memory_bytes - ahead) / each));
}

double SimLoader::cold(std::int64_t batch) const {
  const auto& storage = device_.drawn().storage;
  return storage.warm_after > 0 && batch >= storage.warm_after ? 1 / storage.warm_speed : 1;
}

/// Requests of one worker follow each other; transfers of all workers share the bandwidth, and a
/// drawn storage serves a limited number of readers at once.
void SimLoader::add_read(std::int64_t batch, std::vector<Leg>& legs) const {
  const Read read = read_of(batch);
  const double noise = device_.noise(device_.drawn().noise.loader, 0x4EAD, batch) * cold(batch);
  const auto latency = static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(storage_.speed.latency).count());
  const double waits = static_cast<double>(read.requests) * latency * noise;
  const std::int64_t opens = read.requests * costs_.open_ns;
  auto at_rate = [&](double bytes_per_second) {
    return bytes_per_second > 0
               ? ns(static_cast<double>(read.bytes) / bytes_per_second * 1e9 * noise)
               : 0;
  };
  const std::int64_t transfer = at_rate(storage_.speed.bytes_per_second);
  legs.push_back({Leg::Kind::kBeginToRead, transfer});
  legs.push_back({Leg::Kind::kWait, ns(waits)});
  legs.push_back({Leg::Kind::kCompute, opens});
  legs.push_back({Leg::Kind::kWait, ns(2 * waits) - ns(waits)});
  legs.push_back({Leg::Kind::kCompute, ns(read_processor_ns(read)) - opens});
  legs.push_back({Leg::Kind::kEndReading,
                  std::max(transfer, at_rate(storage_.speed.reader_bytes_per_second))});
}

std::vector<Leg> SimLoader::legs_of(std::int64_t batch) const {
  std::vector<Leg> legs;
  for (const Stage& stage : stages_) {
    if (stage.kind == RangeKind::kRead) {
      if (bytes_per_batch_ > 0) add_read(batch, legs);
      continue;
    }
    legs.push_back(
        {Leg::Kind::kCompute, ns(stage.processor_ns * device_.jitter(0x10AD, batch) *
                                 device_.noise(device_.drawn().noise.loader, 0x10AD, batch))});
  }
  return legs;
}

void SimLoader::record(const MadeBatch& made) {
  const std::int32_t worker = options_.workers > 0 ? made.worker : -1;
  const auto number = static_cast<std::uint64_t>(made.batch);
  if (options_.workers > 0 && device_.options().record_edges) {
    auto& edges = device_.recording().edges;
    const std::int64_t ahead = std::max(options_.prefetch, 1);
    if (made.before >= 0)
      edges.push_back({EdgeKind::kWorker, static_cast<std::uint64_t>(made.before), number, 0, -1});
    if (made.batch >= ahead)
      edges.push_back(
          {EdgeKind::kSlot, static_cast<std::uint64_t>(made.batch - ahead), number, 0, -1});
    edges.push_back({EdgeKind::kBatch, number, number, 0, -1});
  }
  if (!device_.options().record_events) return;
  auto add = [&](RangeKind kind, nvtx::Name name, std::int64_t begin, std::int64_t end,
                 std::int64_t bytes) {
    RangeRecord range;
    range.start = begin;
    range.end = end;
    range.name = name;
    range.worker = worker;
    range.payload = stage_payload(kind, made.batch, bytes);
    device_.recording().ranges.push_back(range);
  };
  add(RangeKind::kBatch, names().batch, made.begin,
      made.ends.empty() ? made.begin : made.ends.back(), made_bytes());
  std::int64_t at = made.begin;
  std::size_t leg = 0;
  for (const Stage& stage : stages_) {
    const std::size_t first = leg;
    if (stage.kind != RangeKind::kRead) {
      ++leg;
    } else if (bytes_per_batch_ > 0) {
      leg += kLegsOfRead;
    }
    const std::int64_t end = leg > first ? made.ends[leg - 1] : at;
    add(stage.kind, stage.name, at, end,
        stage.kind == RangeKind::kRead ? read_of(made.batch).bytes : stage.bytes);
    if (stage.kind == RangeKind::kRead && bytes_per_batch_ > 0) record_files(made, first, at);
    at = end;
  }
}

/// Records what `headway record --io` would have seen.
void SimLoader::record_files(const MadeBatch& made, std::size_t first_leg, std::int64_t begin) {
  const std::int32_t worker = options_.workers > 0 ? made.worker : -1;
  const Read read = read_of(made.batch);
  if (read.bytes == 0) return;  // from a shard that the worker holds
  const std::int64_t opened = made.ends[first_leg + kLegOfOpening];
  auto& files = device_.recording().files;
  if (read.requests > 0) files.push_back({begin, opened, read.requests, 0, worker, false});
  files.push_back({opened, made.ends[first_leg + kLegsOfRead - 1],
                   std::max<std::int64_t>(read.requests, 1), read.bytes, worker, true});
}

/// Pixels of a batch in its stored size.
double SimLoader::source_pixels() const {
  if (storage_.decoded)
    return static_cast<double>(options_.batch * options_.canvas_height * options_.canvas_width);
  return static_cast<double>(bytes_per_batch_) * costs_.jpeg_pixels_per_byte;
}

/// The part of decoding that the loader does.
double SimLoader::decode_ns() const {
  if (options_.channels != 3) {
    const double each =
        bytes_per_batch_ == 0 || storage_.decoded ? costs_.copy_per_pixel : costs_.decode_per_pixel;
    return each * static_cast<double>(options_.batch * options_.height * options_.width);
  }
  if (storage_.decoded) return costs_.copy_per_pixel * source_pixels();
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
  std::vector<Stage> stages = {{RangeKind::kRead, names().read, 0, bytes_per_batch_},
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
        return {0, bytes_per_batch_};
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
