// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstring>
#include <future>
#include <list>
#include <map>
#include <mutex>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/png.h"
#include "reference_trainer/data/sampler.h"
#include "reference_trainer/data/shard.h"
#include "reference_trainer/data/source.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;
using SharedShard = std::shared_ptr<const Shard>;

/// The most recently used shards. While one worker reads a shard, other workers that need it wait.
class ShardCache {
 public:
  explicit ShardCache(std::size_t capacity) : capacity_(capacity) {}

  template <class Load>
  SharedShard get(std::int64_t block, const Load& load) {
    std::unique_lock lock(mutex_);
    auto found = entries_.find(block);
    if (found != entries_.end()) {
      recent_.splice(recent_.end(), recent_, found->second.position);
      std::shared_future<SharedShard> shard = found->second.shard;
      lock.unlock();
      return shard.get();
    }
    std::promise<SharedShard> promise;
    recent_.push_back(block);
    entries_[block] = {promise.get_future().share(), std::prev(recent_.end())};
    if (entries_.size() > capacity_) {
      entries_.erase(recent_.front());
      recent_.pop_front();
    }
    lock.unlock();
    try {
      SharedShard shard = load();
      promise.set_value(shard);
      return shard;
    } catch (...) {
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  struct Entry {
    std::shared_future<SharedShard> shard;
    std::list<std::int64_t>::iterator position;
  };
  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<std::int64_t> recent_;  // least recent first
  std::map<std::int64_t, Entry> entries_;
};

class ShardsSource final : public SampleSource {
 public:
  ShardsSource(fs::path folder, std::int64_t count, ShardFormat format, Storage& storage,
               int workers)
      : folder_(std::move(folder)),
        count_(count),
        format_(std::move(format)),
        storage_(storage),
        cache_(static_cast<std::size_t>(2 * Sampler::kWindow + workers)) {
    for (std::int64_t begin = 0; begin < count; begin += Sampler::kBlock) {
      const fs::path path = path_of(begin / Sampler::kBlock);
      std::error_code code;
      bytes_.push_back(static_cast<std::int64_t>(fs::file_size(path, code)));
      if (code)
        fail_input("{}: {}. Run again to have it made.", escape_terminal(path.string()),
                   code.message());
    }
  }

  std::int64_t count() const override { return count_; }

  /// Amortised: a shard is read once for all its samples.
  std::int64_t bytes(std::span<const std::int64_t> samples) const override {
    std::int64_t sum = 0;
    for (std::int64_t sample : samples) {
      const std::int64_t block = sample / Sampler::kBlock;
      const std::int64_t in_block = std::min(Sampler::kBlock, count_ - block * Sampler::kBlock);
      sum += bytes_[static_cast<std::size_t>(block)] / in_block;
    }
    return sum;
  }

  void read(std::span<const std::int64_t> samples, EncodedBatch& into) override {
    into.samples.clear();
    into.shards.clear();
    for (std::int64_t sample : samples) {
      const std::int64_t block = sample / Sampler::kBlock;
      SharedShard shard = cache_.get(block, [&] { return load(block); });
      const Shard::Record& record =
          shard->records[static_cast<std::size_t>(sample % Sampler::kBlock)];
      into.samples.push_back({record.bytes, record.label,
                              fmt::format("{}, image {}", path_of(block).string(), sample)});
      into.shards.push_back(std::move(shard));
    }
  }

  void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const override {
    format_.decode(sample, pixels);
  }
  Picture decode_whole(const EncodedBatch::Sample& sample) const override {
    return format_.decode_whole ? format_.decode_whole(sample) : SampleSource::decode_whole(sample);
  }

 private:
  fs::path path_of(std::int64_t block) const {
    const std::int64_t size = std::min(Sampler::kBlock, count_ - block * Sampler::kBlock);
    return folder_ / (size == Sampler::kBlock ? fmt::format("{:05}.shard", block)
                                              : fmt::format("{:05}-{}.shard", block, size));
  }

  SharedShard load(std::int64_t block) {
    const fs::path path = path_of(block);
    std::vector<std::byte> file;
    storage_.read_file(path, file);
    Shard shard = unpack_shard(std::move(file), path.string());
    const std::int64_t expected = std::min(Sampler::kBlock, count_ - block * Sampler::kBlock);
    if (static_cast<std::int64_t>(shard.records.size()) != expected ||
        shard.height != format_.height || shard.width != format_.width)
      fail_input("{}: {} images of {}x{}, expected {} of {}x{}. Delete it; it is made again.",
                 escape_terminal(path.string()), shard.records.size(), shard.height, shard.width,
                 expected, format_.height, format_.width);
    return std::make_shared<const Shard>(std::move(shard));
  }

  const fs::path folder_;
  const std::int64_t count_;
  const ShardFormat format_;
  Storage& storage_;
  std::vector<std::int64_t> bytes_;  // by block
  ShardCache cache_;
};

}  // namespace

std::unique_ptr<SampleSource> open_shards(const fs::path& folder, std::int64_t count,
                                          const ShardFormat& format, Storage& storage,
                                          int workers) {
  return std::make_unique<ShardsSource>(folder, count, format, storage, workers);
}

ShardFormat grey_shards(int height, int width, bool decoded) {
  ShardFormat format;
  format.height = height;
  format.width = width;
  format.decode = [height, width, decoded](const EncodedBatch::Sample& sample,
                                           std::span<std::uint8_t> pixels) {
    if (decoded) return copy_pixels(sample, pixels);
    decode_png(sample.bytes, height, width, pixels, sample.origin);
  };
  return format;
}

Picture SampleSource::decode_whole(const EncodedBatch::Sample& sample) const {
  fail_internal("Sample '{}' has no picture of the stored size.", sample.origin);
}

void copy_pixels(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) {
  if (sample.bytes.size() != pixels.size())
    fail_input("{}: {} bytes of pixels, expected {}. Delete the shard; it is made again.",
               escape_terminal(sample.origin), sample.bytes.size(), pixels.size());
  std::memcpy(pixels.data(), sample.bytes.data(), pixels.size());
}

}  // namespace headway::trainer
