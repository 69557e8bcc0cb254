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

/// What batches hold where the device makes the images itself: for every image what becomes of it, then pixels or, where the
/// device decodes, the coefficients of JPEGs. One block of memory, so that one copy brings it over.
struct PackedFormat {
  enum class Kind : std::uint8_t { kGrey, kPictures, kJpegs };
  Kind kind = Kind::kGrey;
  std::int64_t images = 0;
  int height = 0;  ///< of what is trained on
  int width = 0;
  int canvas_height = 0;  ///< pictures have this size before a part is chosen; 0: their own
  int canvas_width = 0;
  std::int64_t payload_bytes = 0;  ///< that a batch may have
  std::int64_t usual_payload = 0;  ///< that one has on average
  std::int64_t decoded_bytes = 0;  ///< kJpegs: that the pictures of a batch may have as pixels
  std::int64_t usual_decoded = 0;  ///< likewise, on average
  Augmentation grey;               ///< how grey images are normalised
  PictureAugmentation colour;      ///< likewise pictures

  /// JPEGs in a canvas are resized twice.
  bool has_canvas() const { return kind == Kind::kJpegs && canvas_height > 0; }
  std::int64_t canvas_bytes() const { return std::int64_t{3} * canvas_height * canvas_width; }

  /// Where things begin, in bytes from the block's beginning.
  struct Places {
    std::int64_t shifts = 0;   ///< kernels::ImageShift [images]; kGrey
    std::int64_t parts = 0;    ///< kernels::PicturePart [images]; of pictures
    std::int64_t whole = 0;    ///< likewise: what of a picture goes into its canvas; has_canvas()
    std::int64_t colours = 0;  ///< kernels::ColourChange [images]; of pictures, random
    std::int64_t jpegs = 0;    ///< kernels::JpegPicture [images]; kJpegs
    std::int64_t payload = 0;
  };
  Places places() const;
  /// Of the block.
  std::int64_t bytes() const { return places().payload + payload_bytes; }
};

/// Batches of `images` images, all of one size.
PackedFormat grey_format(std::int64_t images, int height, int width);
PackedFormat canvas_format(std::int64_t images, int canvas_height, int canvas_width);
/// For pictures of their own size; `jpegs`: as coefficients.
PackedFormat picture_format(std::int64_t images, const PictureSizes& sizes, bool jpegs);

/// Fills the block of one batch, image by image in order. All sizes are checked: a picture that does not fit, because its file
/// was exchanged since it was measured, is an Error (bad input) that names it.
class PackedBatch {
 public:
  /// `format` must outlive it.
  explicit PackedBatch(const PackedFormat& format) : format_(format), places_(format.places()) {}

  void begin(Batch& batch);
  /// Place for the next image's pixels, of the canvas or of a grey image.
  std::span<std::uint8_t> add_pixels();
  void add_picture(const Picture& picture, std::string_view origin);
  void add_jpeg(std::span<const std::byte> bytes, std::string_view origin);
  /// Image i, which is there: the size of its picture, or of the canvas.
  const kernels::PicturePart& picture(std::size_t i) const;
  /// What becomes of it. Of `part` all but the offset counts.
  void shift(std::size_t i, const kernels::ImageShift& how);
  void show(std::size_t i, const kernels::PicturePart& part);
  void recolour(std::size_t i, const kernels::ColourChange& how);
  /// Says how much of the block is used.
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
