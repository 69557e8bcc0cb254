// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reference_trainer/data/images.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/storage.h"

namespace headway::trainer {

/// The encoded samples of one batch between reading and decoding. Reused from batch to batch.
struct EncodedBatch {
  struct Sample {
    std::span<const std::byte> bytes;
    int label = 0;
    std::string origin;  ///< for error messages; empty for raw pixels in memory
  };
  std::vector<Sample> samples;
  std::vector<std::vector<std::byte>> files;        ///< owns what `bytes` of single files point to
  std::vector<std::shared_ptr<const void>> shards;  ///< keeps what `bytes` of shards point to
};

/// Where samples come from. All sources of one image set give the same images in the same
/// numbering. Thread safe: workers share one.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual std::int64_t count() const = 0;
  /// Upper bound of the bytes that `read` of these samples takes from storage (0 for memory).
  virtual std::int64_t bytes(std::span<const std::int64_t> samples) const = 0;
  /// Reads the samples' encoded bytes. Throws Error (bad input) that names file and remedy.
  virtual void read(std::span<const std::int64_t> samples, EncodedBatch& into) = 0;
  /// Decodes one sample to pixels[height·width].
  virtual void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const = 0;
  /// Decodes a whole picture in its own size, or in the size of the canvas that it was stored with.
  /// Only sources of pictures support it.
  virtual Picture decode_whole(const EncodedBatch::Sample& sample) const;
};

/// The images themselves, already decoded. `images` must outlive the source.
std::unique_ptr<SampleSource> open_memory(const ImageSet& images);
/// One PNG file per image, as lay_out_files made them.
std::unique_ptr<SampleSource> open_files(const std::filesystem::path& folder, std::int64_t count,
                                         int height, int width, Storage& storage);
/// Images packed 1000 to a file, as lay_out_shards made them. Keeps the shards of the current and
/// the next shuffling window in memory, and up to one more shard for each of the `workers`.
struct ShardFormat {
  int height = 0;  ///< as in the shards; 0: any size
  int width = 0;
  std::function<void(const EncodedBatch::Sample&, std::span<std::uint8_t>)> decode;
  std::function<Picture(const EncodedBatch::Sample&)> decode_whole;  ///< empty: no pictures
};
std::unique_ptr<SampleSource> open_shards(const std::filesystem::path& folder, std::int64_t count,
                                          const ShardFormat& format, Storage& storage, int workers);
/// Grey images of one size, as PNGs or (`decoded`) as pixels.
ShardFormat grey_shards(int height, int width, bool decoded);
/// Copies a record of raw pixels; throws Error (bad input) when it has another size.
void copy_pixels(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels);

}  // namespace headway::trainer
