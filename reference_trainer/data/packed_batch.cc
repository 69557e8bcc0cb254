// SPDX-License-Identifier: MIT
#include "reference_trainer/data/packed_batch.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/jpeg_coefficients.h"

namespace headway::trainer {
namespace {

/// Size of a block of coefficients; also more than a GPU loads at once.
constexpr std::int64_t kAlignment = 128;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The sum of the largest `count` of `sizes`, each aligned; `sizes` begin with the largest.
std::int64_t largest(std::span<const std::int64_t> sizes, std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t bytes : sizes.first(std::min(sizes.size(), static_cast<std::size_t>(count))))
    sum += aligned(bytes);
  return sum;
}
std::int64_t usual(std::span<const std::int64_t> sizes, std::int64_t count) {
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  return sizes.empty() ? 0 : all / std::ssize(sizes) * count;
}

}  // namespace

PackedFormat::Places PackedFormat::places() const {
  Places result;
  std::int64_t end = 0;
  auto place = [&](bool there, std::size_t size) {
    const std::int64_t begin = end;
    if (there) end = aligned(end + images * static_cast<std::int64_t>(size));
    return begin;
  };
  const bool pictures = kind != Kind::kGrey;
  result.shifts = place(!pictures, sizeof(kernels::ImageShift));
  result.parts = place(pictures, sizeof(kernels::PicturePart));
  result.whole = place(has_canvas(), sizeof(kernels::PicturePart));
  result.colours = place(pictures && colour.random, sizeof(kernels::ColourChange));
  result.jpegs = place(kind == Kind::kJpegs, sizeof(kernels::JpegPicture));
  result.payload = end;
  return result;
}

PackedFormat grey_format(std::int64_t images, int height, int width) {
  PackedFormat format;
  format.kind = PackedFormat::Kind::kGrey;
  format.images = images;
  format.payload_bytes = format.usual_payload = images * height * width;
  return format;
}

PackedFormat canvas_format(std::int64_t images, int canvas_height, int canvas_width) {
  PackedFormat format;
  format.kind = PackedFormat::Kind::kPictures;
  format.images = images;
  format.canvas_height = canvas_height;
  format.canvas_width = canvas_width;
  format.usual_payload = images * format.canvas_bytes();
  format.payload_bytes = format.usual_payload + images * kAlignment;
  return format;
}

PackedFormat picture_format(std::int64_t images, const PictureSizes& sizes, bool jpegs) {
  PackedFormat format;
  format.kind = jpegs ? PackedFormat::Kind::kJpegs : PackedFormat::Kind::kPictures;
  format.images = images;
  const auto& bytes = jpegs ? sizes.coefficients : sizes.pixels;
  format.payload_bytes = largest(bytes, images);
  format.usual_payload = usual(bytes, images);
  if (!jpegs) return format;
  format.decoded_bytes = largest(sizes.pixels, images);
  format.usual_decoded = usual(sizes.pixels, images);
  return format;
}

template <class T>
T& PackedBatch::at(std::int64_t place, std::size_t i) const {
  return reinterpret_cast<T*>(batch_->images.as<std::byte>() + place)[i];
}

void PackedBatch::begin(Batch& batch) {
  batch_ = &batch;
  images_ = 0;
  payload_ = 0;
  decoded_ = 0;
  blocks_ = 0;
}

/// Returns the offset for `bytes` bytes behind the `used` bytes, of which there may be `most`.
std::int64_t PackedBatch::reserve(std::int64_t& used, std::int64_t most, std::int64_t bytes,
                                  std::string_view origin) const {
  if (used + bytes > most)
    fail_input(
        "{}: this picture is larger than at the start of the run: a batch with it exceeds the "
        "maximum of {} bytes. Keep the files unchanged during training, and start again.",
        escape_terminal(origin), most);
  const std::int64_t begin = used;
  used = aligned(used + bytes);
  return begin;
}

void PackedBatch::place_picture(std::int64_t offset, int height, int width) {
  auto& part = at<kernels::PicturePart>(places_.parts, images_++);
  part.offset = offset;
  part.height = height;
  part.width = width;
}

std::span<std::uint8_t> PackedBatch::add_pixels() {
  const bool grey = format_.kind == PackedFormat::Kind::kGrey;
  const std::int64_t bytes =
      grey ? std::int64_t{format_.height} * format_.width : format_.canvas_bytes();
  HEADWAY_INVARIANT(payload_ + bytes <= format_.payload_bytes);
  const std::int64_t begin = payload_;
  payload_ += bytes;  // without gaps: grey images form one array
  if (!grey) place_picture(begin, format_.canvas_height, format_.canvas_width);
  return {&at<std::uint8_t>(places_.payload, static_cast<std::size_t>(begin)),
          static_cast<std::size_t>(bytes)};
}

void PackedBatch::add_picture(const Picture& picture, std::string_view origin) {
  const std::int64_t begin = reserve(payload_, format_.payload_bytes,
                                     static_cast<std::int64_t>(picture.rgb.size()), origin);
  std::ranges::copy(picture.rgb,
                    &at<std::uint8_t>(places_.payload, static_cast<std::size_t>(begin)));
  place_picture(begin, picture.height, picture.width);
}

void PackedBatch::add_jpeg(std::span<const std::byte> bytes, std::string_view origin) {
  const std::optional<JpegExtent> known = jpeg_extent(bytes, origin);
  if (!known)
    fail_input("{}: the file ends in its header. Replace or remove it.", escape_terminal(origin));
  const JpegExtent& extent = *known;
  const std::int64_t begin =
      reserve(payload_, format_.payload_bytes, 2 * extent.coefficients(), origin);
  const std::int64_t to = reserve(decoded_, format_.decoded_bytes, 3 * extent.pixels(), origin);
  auto* const coefficients = reinterpret_cast<std::int16_t*>(
      &at<std::byte>(places_.payload, static_cast<std::size_t>(begin)));
  auto& jpeg = at<kernels::JpegPicture>(places_.jpegs, images_);
  jpeg = read_jpeg_coefficients(
      bytes, origin, {coefficients, static_cast<std::size_t>(extent.coefficients())}, begin / 2);
  jpeg.first_block = blocks_;
  jpeg.to = to;
  blocks_ += extent.blocks;
  if (format_.has_canvas()) {
    auto& whole = at<kernels::PicturePart>(places_.whole, images_);
    whole =
        part_of(centred_part(jpeg.height, jpeg.width, format_.canvas_height, format_.canvas_width),
                jpeg.height, jpeg.width);
    whole.offset = to;
    place_picture(static_cast<std::int64_t>(images_) * format_.canvas_bytes(),
                  format_.canvas_height, format_.canvas_width);
  } else {
    place_picture(to, jpeg.height, jpeg.width);
  }
}

const kernels::PicturePart& PackedBatch::picture(std::size_t i) const {
  return at<kernels::PicturePart>(places_.parts, i);
}

void PackedBatch::crop(std::size_t i, const kernels::PicturePart& part) {
  auto& here = at<kernels::PicturePart>(places_.parts, i);
  const std::int64_t offset = here.offset;
  here = part;
  here.offset = offset;
}

void PackedBatch::shift(std::size_t i, const kernels::ImageShift& how) {
  at<kernels::ImageShift>(places_.shifts, i) = how;
}

void PackedBatch::recolour(std::size_t i, const kernels::ColourChange& how) {
  at<kernels::ColourChange>(places_.colours, i) = how;
}

void PackedBatch::end() {
  batch_->image_bytes = places_.payload + payload_;
}

}  // namespace headway::trainer
