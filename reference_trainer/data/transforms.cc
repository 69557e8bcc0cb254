// SPDX-License-Identifier: MIT
#include "reference_trainer/data/transforms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headway::trainer {
namespace {

Box random_part(float least_area, Random& random) {
  for (int i = 0; i < 10; ++i) {
    const double area = least_area + (1 - least_area) * random.uniform();
    const double aspect = std::exp(std::log(4.0 / 3) * (2 * random.uniform() - 1));
    const double width = std::sqrt(area * aspect);
    const double height = std::sqrt(area / aspect);
    if (width > 1 || height > 1) continue;
    const double left = random.uniform() * (1 - width);
    const double top = random.uniform() * (1 - height);
    return {static_cast<float>(left), static_cast<float>(top), static_cast<float>(left + width),
            static_cast<float>(top + height), 0};
  }
  return {0, 0, 1, 1, 0};
}

}  // namespace

kernels::PicturePart part_of(const Box& part, int height, int width) {
  struct Pixels {
    float begin;
    float extent;
  };
  auto pixels = [](float begin, float end, int size) -> Pixels {
    const double first = std::min(std::clamp<double>(begin, 0, 1) * size, size - 1.0);
    const double extent = std::max(1.0, std::clamp<double>(end, 0, 1) * size - first);
    return {static_cast<float>(first), static_cast<float>(extent)};
  };
  const Pixels x = pixels(part.left, part.right, width);
  const Pixels y = pixels(part.top, part.bottom, height);
  return {0, height, width, y.begin, x.begin, y.extent, x.extent, 0};
}

void resize(std::span<const std::uint8_t> from, int from_height, int from_width, const Box& part,
            int height, int width, std::span<std::uint8_t> to) {
  kernels::resize_part(from.data(), part_of(part, from_height, from_width), height, width,
                       to.data());
}

Box centred_part(int from_height, int from_width, int height, int width) {
  const double wanted = static_cast<double>(width) / height;
  const double has = static_cast<double>(from_width) / from_height;
  const auto x = static_cast<float>(has > wanted ? wanted / has : 1);
  const auto y = static_cast<float>(has > wanted ? 1 : has / wanted);
  return {(1 - x) / 2, (1 - y) / 2, (1 + x) / 2, (1 + y) / 2, 0};
}

kernels::PicturePart choose_part(const PictureAugmentation& how, Random& random, int height,
                                 int width) {
  if (!how.random) return part_of({0.0625F, 0.0625F, 0.9375F, 0.9375F, 0}, height, width);
  kernels::PicturePart part = part_of(random_part(how.least_area, random), height, width);
  part.mirrored = choose_mirror(random);
  return part;
}

bool choose_mirror(Random& random) {
  return random.below(2) == 1;
}

kernels::ColourChange choose_colours(float most, Random& random) {
  auto factor = [&] { return 1 + most * (2 * static_cast<float>(random.uniform()) - 1); };
  kernels::ColourChange change;
  change.brightness = factor();
  change.contrast = factor();
  change.saturation = factor();
  return change;
}

kernels::ColourPictures colour_pictures(const PictureAugmentation& how, int height, int width) {
  kernels::ColourPictures op;
  op.height = height;
  op.width = width;
  op.mean = how.mean;
  op.deviation = how.deviation;
  return op;
}

void augment_picture(const PictureAugmentation& how, Random& random,
                     std::span<const std::uint8_t> canvas, int canvas_height, int canvas_width,
                     int height, int width, std::span<float> out) {
  std::vector<std::uint8_t> pixels(out.size());
  kernels::resize_part(canvas.data(), choose_part(how, random, canvas_height, canvas_width), height,
                       width, pixels.data());
  kernels::ColourPictures op = colour_pictures(how, height, width);
  op.images = 1;
  op.from = pixels.data();
  op.to = out.data();
  kernels::ColourChange change;
  if (how.random) {
    change = choose_colours(how.jitter, random);
    op.changes = &change;
  }
  run(op);
}

}  // namespace headway::trainer
