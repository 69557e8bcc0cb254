// SPDX-License-Identifier: MIT
// Images are those of the processor's kernels to the bit, whichever device makes them.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/stream_op/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/picture_batch.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels;
using Bytes = std::vector<std::uint8_t>;

/// On a grid that has a block for every piece of every image, or on one of a block or two, which take all.
void run_on_gpu(const StreamOp& op, bool small_grid) {
  kernels::cuda::Limits limits = gpu().limits();
  if (small_grid) limits.multiprocessors = 0;
  kernels::cuda::Launches launches = kernels::cuda::launches(limits, op);
  if (small_grid) launches.front().grid.y = std::min(2U, launches.front().grid.y);
  gpu().run(launches);
}

/// Bytes on the device that begin `offset` after a multiple of 16.
class DeviceBytes {
 public:
  DeviceBytes(Bytes values, std::size_t offset) : offset_(offset), plain_(padded(values, offset)) {}
  std::uint8_t* get() const { return plain_.get() + offset_; }
  Bytes read() const {
    Bytes all = plain_.read();
    return {all.begin() + static_cast<std::ptrdiff_t>(offset_), all.end()};
  }

 private:
  static Bytes padded(Bytes values, std::size_t offset) {
    values.insert(values.begin(), offset, 0xA5);
    return values;
  }
  std::size_t offset_;
  Plain<std::uint8_t> plain_;
};

void check_resize(const Bytes& from, const std::vector<PicturePart>& parts, int height, int width) {
  CAPTURE(height);
  CAPTURE(width);
  const auto images = static_cast<std::int64_t>(parts.size());
  Bytes to(static_cast<std::size_t>(3 * images * height * width));
  run(ResizePictures{images, height, width, 0, from.data(), parts.data(), to.data()});
  const Plain<PicturePart> device_parts(parts);
  for (std::size_t offset : {0U, 1U}) {
    const DeviceBytes device_from(from, offset), device_to(Bytes(to.size(), 0x5A), offset);
    run_on_gpu(ResizePictures{images, height, width, 0, device_from.get(), device_parts.get(),
                              device_to.get()},
               offset == 1);
    CHECK(device_to.read() == to);
  }
}

}  // namespace

TEST_CASE("resized parts are those of the processor, enlarged, shrunk, at borders, mirrored") {
  PictureBatch batch;
  auto add = [&](int height, int width, float top, float left, float rows, float columns) {
    batch.add(height, width, top, left, rows, columns, static_cast<int>(batch.parts.size() % 2));
  };
  add(37, 53, 0, 0, 37, 53);
  add(64, 48, 13.37F, 7.75F, 40.1F, 33.3F);
  add(64, 48, 13.37F, 7.75F, 40.1F, 33.3F);
  add(20, 30, 19, 29, 1, 1);
  add(20, 30, 0, 0, 1, 1);
  add(1, 1, 0, 0, 1, 1);
  add(1000, 3, 0, 0, 1000, 3);
  add(3, 1000, 0, 0, 3, 1000);
  add(90, 41, 30.5F, 0, 59.5F, 20.25F);
  for (auto [height, width] : {std::pair{5, 7}, {1, 1}, {8, 32}, {37, 53}, {9, 36}, {41, 33}})
    check_resize(batch.bytes, batch.parts, height, width);
}

TEST_CASE(
    "a batch as it is trained on, and pictures of one shade, are resized as on the processor") {
  const Bytes from = random_bytes(std::int64_t{3} * 150 * 200, 1);
  check_resize(
      from,
      {{0, 150, 200, 9.375F, 12.5F, 131.25F, 175, 0}, {0, 150, 200, 33.1F, 2.9F, 88.8F, 120.4F, 1}},
      64, 64);
  for (std::uint8_t shade : {0, 255}) {
    const Bytes one(std::size_t{3} * 50 * 61, shade);
    check_resize(one, {{0, 50, 61, 0.1F, 0.2F, 49.9F, 60.8F, 0}}, 23, 31);
    check_resize(one, {{0, 50, 61, 0.1F, 0.2F, 49.9F, 60.8F, 0}}, 70, 68);
  }
}

TEST_CASE(
    "values halfway between two are rounded as on the processor: its sums have the same bits") {
  // Stripes of two values that follow each other: where an even number of columns becomes one, the weights of both are equal in
  // real numbers, and the last bits of the sums decide.
  constexpr int kHeight = 60, kWidth = 120, kShades = 12;
  Bytes from;
  std::vector<PicturePart> parts;
  for (int shade = 0; shade < kShades; ++shade) {
    parts.push_back({static_cast<std::int64_t>(from.size()), kHeight, kWidth, 0, 0, kHeight, kWidth,
                     shade % 2});
    for (int i = 0; i < kHeight * kWidth; ++i)
      for (int c = 0; c < 3; ++c)
        from.push_back(static_cast<std::uint8_t>(19 * shade + 7 * c + i % 2));
  }
  for (auto [height, width] : {std::pair{10, 20}, {12, 10}, {20, 12}})
    check_resize(from, parts, height, width);
}

TEST_CASE("colours are those of the processor, changed or not, however small or extreme") {
  const std::vector<ColourChange> changes = {{0.9F, 1.2F, 0.7F}, {1, 1, 1},         {0, 1, 1},
                                             {1, 0, 1},          {1, 1, 0},         {2, 2, 2},
                                             {0, 0, 0},          {1.3F, 0.7F, 1.1F}};
  const auto images = static_cast<std::int64_t>(changes.size());
  for (auto [height, width] : {std::pair{1, 1}, {2, 2}, {3, 5}, {32, 30}, {33, 31}, {70, 36}}) {
    CAPTURE(height);
    CAPTURE(width);
    const std::int64_t values = std::int64_t{3} * height * width;
    Bytes from = random_bytes(images * values, 1);
    std::fill_n(from.begin(), values, std::uint8_t{0});
    std::fill_n(from.begin() + values, values, std::uint8_t{255});
    const Plain<ColourChange> device_changes(changes);
    for (bool changed : {true, false}) {
      ColourPictures op{images,
                        height,
                        width,
                        {0.485F, 0.456F, 0.406F},
                        {0.229F, 0.224F, 0.225F},
                        from.data(),
                        changed ? changes.data() : nullptr,
                        nullptr};
      std::vector<float> to(from.size());
      op.to = to.data();
      run(op);
      if (changed) op.changes = device_changes.get();
      for (std::size_t offset : {0U, 1U}) {
        const DeviceBytes device_from(from, offset);
        const Array device_to(NumberFormat::kFloat32, images * values, offset);
        op.from = device_from.get();
        op.to = device_to.floats();
        run_on_gpu(op, offset == 1);
        CHECK(device_to.read() == to);
      }
      op.from = from.data();
    }
  }
}

TEST_CASE("shifted images are those of the processor, also when nothing of them is left") {
  std::vector<ImageShift> shifts;
  for (int down : {-40, -2, 0, 1})
    for (int right : {-2, 0, 3, 50})
      for (int mirrored : {0, 1}) shifts.push_back({down, right, mirrored});
  const auto images = static_cast<std::int64_t>(shifts.size());
  for (auto [height, width] : {std::pair{1, 1}, {3, 5}, {28, 28}, {7, 6}, {51, 45}}) {
    CAPTURE(height);
    CAPTURE(width);
    const std::int64_t pixels = images * height * width;
    const Bytes from = random_bytes(pixels, 1);
    std::vector<float> to(from.size());
    run(ShiftImages{images, height, width, 0.0137F, -0.81F, from.data(), shifts.data(), to.data()});
    const Plain<ImageShift> device_shifts(shifts);
    for (std::size_t offset : {0U, 1U}) {
      const DeviceBytes device_from(from, offset);
      const Array device_to(NumberFormat::kFloat32, pixels, offset);
      run_on_gpu(ShiftImages{images, height, width, 0.0137F, -0.81F, device_from.get(),
                             device_shifts.get(), device_to.floats()},
                 offset == 1);
      CHECK(device_to.read() == to);
    }
  }
}

}  // namespace headway::test
