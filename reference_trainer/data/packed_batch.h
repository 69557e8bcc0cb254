// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/image_shift/op.h"
#include "kernels/jpeg_blocks/op.h"
#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "reference_trainer/data/augment.h"
#include "reference_trainer/data/batch_source.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/picture_sizes.h"
#include "reference_trainer/data/transforms.h"

namespace headway::trainer {

/// The layout of a batch whose images the device transforms: the parameters of each image's transforms, then the payload:
/// pixels or, where the device decodes, JPEG coefficients. One block of memory, so that one copy moves it to the device.
struct PackedFormat {
  enum class Kind : std::uint8_t { kGrey, kPictures, kJpegs };
  Kind kind = Kind::kGrey;
  std::int64_t images = 0;
  int height = 0;  ///< of the images that the model gets
  int width = 0;
  int canvas_height = 0;  ///< pictures are resized to it before the crop; 0: they keep their size
  int canvas_width = 0;
  std::int64_t payload_bytes = 0;  ///< the most that a batch has
  std::int64_t usual_payload = 0;  ///< the mean over batches
  std::int64_t decoded_bytes = 0;  ///< kJpegs: the most decoded pixels that a batch has
  std::int64_t usual_decoded = 0;  ///< the mean of the same
  Augmentation grey;               ///< normalises grey images
  PictureAugmentation colour;      ///< normalises and changes pictures

  /// True for JPEGs with a canvas, which are resized twice: into the canvas, then from the crop to `height` × `width`.
  bool has_canvas() const { return kind == Kind::kJpegs && canvas_height > 0; }
  std::int64_t canvas_bytes() const { return std::int64_t{3} * canvas_height * canvas_width; }

  /// Offset of each array from the start of the block, in bytes.
  struct Places {
    std::int64_t shifts = 0;   ///< kernels::ImageShift [images]; kGrey
    std::int64_t parts = 0;    ///< kernels::PicturePart [images]; kPictures, kJpegs: the crop
    std::int64_t whole = 0;    ///< likewise: what fills the canvas; has_canvas()
    std::int64_t colours = 0;  ///< kernels::ColourChange [images]; pictures with random colours
    std::int64_t jpegs = 0;    ///< kernels::JpegPicture [images]; kJpegs
    std::int64_t payload = 0;
  };
  Places places() const;
  /// Size of the block.
  std::int64_t bytes() const { return places().payload + payload_bytes; }
};

/// Batches of `images` images, all of one size.
PackedFormat grey_format(std::int64_t images, int height, int width);
PackedFormat canvas_format(std::int64_t images, int canvas_height, int canvas_width);
/// For pictures of their own size; `jpegs`: as coefficients.
PackedFormat picture_format(std::int64_t images, const PictureSizes& sizes, bool jpegs);

/// Fills the block of one batch, image by image in order. Throws Error (bad input) with the name of a picture that does not
/// fit: its file has changed since it was measured.
class PackedBatch {
 public:
  /// `format` must outlive it.
  explicit PackedBatch(const PackedFormat& format) : format_(format), places_(format.places()) {}

  void begin(Batch& batch);
  /// Memory for the next image's pixels: a canvas or a grey image.
  std::span<std::uint8_t> add_pixels();
  void add_picture(const Picture& picture, std::string_view origin);
  void add_jpeg(std::span<const std::byte> bytes, std::string_view origin);
  /// The size of image i, already added: of its picture, or of the canvas.
  const kernels::PicturePart& picture(std::size_t i) const;
  /// The transforms of image i: shift, crop, colour change. `part.offset` is ignored.
  void shift(std::size_t i, const kernels::ImageShift& how);
  void crop(std::size_t i, const kernels::PicturePart& part);
  void recolour(std::size_t i, const kernels::ColourChange& how);
  /// Writes the used size of the block to the batch.
  void end();

 private:
  template <class T>
  T& at(std::int64_t place, std::size_t i) const;
  std::int64_t reserve(std::int64_t& used, std::int64_t most, std::int64_t bytes,
                       std::string_view origin) const;
  void place_picture(std::int64_t offset, int height, int width);

  const PackedFormat& format_;
  const PackedFormat::Places places_;
  Batch* batch_ = nullptr;
  std::size_t images_ = 0;
  std::int64_t payload_ = 0;
  std::int64_t decoded_ = 0;
  std::int64_t blocks_ = 0;
};

}  // namespace headway::trainer
