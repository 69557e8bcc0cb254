// SPDX-License-Identifier: MIT
// What launchers decide without a GPU: kernels, grids, tables of tensors, refusals.
#include <doctest/doctest.h>

#include <set>

#include "common/error.h"
#include "kernels/adam/launch.h"
#include "kernels/add/launch.h"
#include "kernels/batch_norm/launch.h"
#include "kernels/cast/launch.h"
#include "kernels/compress_top/launch.h"
#include "kernels/embedding/launch.h"
#include "kernels/layer_norm/launch.h"
#include "kernels/max_pool/launch.h"
#include "kernels/softmax_cross_entropy/launch.h"
#include "kernels/stream_op/launch.h"

namespace headway::kernels::cuda {
namespace {

constexpr Limits kLimits;
constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// An address that is never followed.
template <class T = void>
T* address(std::uintptr_t value) {
  return reinterpret_cast<T*>(value);
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<TableTensor> tensors(std::size_t count, std::int64_t elements) {
  std::vector<TableTensor> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i].count = elements + static_cast<std::int64_t>(i);
  return list;
}

/// Counts how often each (tensor, chunk) is named by the launches' tables.
template <class Table>
void count_chunks_of(const Launches& launches, std::multiset<std::pair<int, std::int64_t>>& seen) {
  std::int32_t offset = 0;
  for (const Launch& launch : launches) {
    const Table table = launch.as<Table>();
    CHECK(table.by.chunk_offset == offset);
    std::int32_t chunk = 0;
    for (int i = 0; i < table.by.tensors; ++i) {
      const TableTensor& t = table.tensors[i];
      CHECK(t.first_chunk == chunk);
      for (std::int64_t first = 0; first < t.count; first += kChunk, ++chunk)
        seen.insert({t.number, first});
    }
    CHECK(chunk == table.by.chunks);
    CHECK(launch.grid.x <= static_cast<unsigned>(chunk));
    offset += chunk;
  }
}

}  // namespace

TEST_CASE("a grid has a thread for each piece of work, up to what fills the GPU") {
  CHECK(blocks_for(1, 256, kLimits) == 1);
  CHECK(blocks_for(257, 256, kLimits) == 2);
  CHECK(blocks_for(std::int64_t{1} << 40, 256, kLimits) == 132 * 16);
  CHECK(blocks_for(std::int64_t{1} << 40, 256, {4, kLargeParameters}, 2) == 8);
}

TEST_CASE("tables fit into a kernel's parameters, small and large") {
  static_assert(sizeof(SmallTable) <= kSmallParameters);
  static_assert(sizeof(LargeTable) <= kLargeParameters);
  // ResNet-50 has 161 parameters, a GPT-2 of 12 layers 148: one launch.
  CHECK(LargeTable::kCapacity >= 161);
  CHECK(SmallTable::kCapacity >= 32);
}

TEST_CASE("every chunk of every tensor is in exactly one launch, whatever the table holds") {
  for (std::size_t count : {1UL, SmallTable::kCapacity, SmallTable::kCapacity + 1,
                            LargeTable::kCapacity, LargeTable::kCapacity + 1, 2000UL}) {
    for (std::size_t bytes : {kSmallParameters, kLargeParameters}) {
      CAPTURE(count);
      CAPTURE(bytes);
      auto list = tensors(count, kChunk - 5);
      list.front().count = 10 * kChunk;
      if (count > 3) list[2].count = 0;  // left out
      const Launches launches = adam({132, bytes}, kFull, {}, list);
      const bool small = bytes == kSmallParameters || count <= SmallTable::kCapacity;
      const std::size_t used = count > 3 ? count - 1 : count;
      const std::size_t capacity = small ? SmallTable::kCapacity : LargeTable::kCapacity;
      if (count != SmallTable::kCapacity + 1 && count != LargeTable::kCapacity + 1)
        CHECK(launches.size() == (used + capacity - 1) / capacity);
      CHECK(launches.front().kernel == (launches.front().parameters.size() == sizeof(SmallTable)
                                            ? "adam_f32_small"
                                            : "adam_f32_large"));
      std::multiset<std::pair<int, std::int64_t>> seen;
      if (launches.front().parameters.size() == sizeof(SmallTable))
        count_chunks_of<SmallTable>(launches, seen);
      else
        count_chunks_of<LargeTable>(launches, seen);
      std::size_t expected = 0;
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::int64_t first = 0; first < list[i].count; first += kChunk, ++expected)
          CHECK(seen.count({static_cast<int>(i), first}) == 1);
      CHECK(seen.size() == expected);
      CHECK(count_chunks(list) == static_cast<std::int64_t>(expected));
    }
  }
}

TEST_CASE("no tensors, or empty ones, take no launch") {
  CHECK(adam(kLimits, kFull, {}, {}).empty());
  CHECK(adam(kLimits, kFull, {}, std::vector<TableTensor>(3)).empty());
}

TEST_CASE("column plans cover all columns, and leave every thread some rows") {
  for (std::int64_t rows : {1, 33, 1000, 100'000}) {
    for (std::int64_t columns : {1, 8, 9, 64, 257, 5000}) {
      CAPTURE(rows);
      CAPTURE(columns);
      const ColumnPlan plan = plan_columns(kLimits, rows, columns);
      CHECK(plan.tiles.packed == (columns % 8 == 0));
      CHECK(plan.grid.x * plan.tiles.across * 8 >= columns);
      CHECK((plan.grid.x - 1) * plan.tiles.across * 8 < columns);
      CHECK(kColumnThreads % static_cast<unsigned>(plan.tiles.across) == 0);
      CHECK(plan.grid.y >= 1);
      CHECK(plan.grid.y <= 512);
      const std::int64_t down = kColumnThreads / static_cast<unsigned>(plan.tiles.across);
      CHECK((plan.grid.y == 1 || rows > (plan.grid.y - 1) * down * 4));
      CHECK(plan.scratch_floats(2) == plan.grid.y * 2 * columns);
      CHECK_FALSE(plan_columns(kLimits, rows, columns, false).tiles.packed);
    }
  }
}

TEST_CASE("layer norm takes the variant that holds a row") {
  auto kernel = [](std::int64_t columns, LayerNormVariant variant = LayerNormVariant::kBest) {
    LayerNormArrays a;
    a.x = a.y = address(4096);
    a.gamma = a.beta = a.mean = a.rstd = address<float>(4096);
    return layer_norm_forward(kLimits, NumberFormat::kBfloat16, {100, columns}, 0, a, variant)
        .kernel;
  };
  CHECK(kernel(256) == "layer_norm_forward_warp1_bf16");
  CHECK(kernel(257) == "layer_norm_forward_warp4_bf16");
  CHECK(kernel(1024) == "layer_norm_forward_warp4_bf16");
  CHECK(kernel(1025) == "layer_norm_forward_block1_bf16");
  CHECK(kernel(8192) == "layer_norm_forward_block4_bf16");
  CHECK(kernel(8193) == "layer_norm_forward_naive_bf16");
  CHECK(refusal([&] { kernel(1025, LayerNormVariant::kWarp); }) ==
        "Kernel layer_norm_forward: rows are too long for this variant.");
}

TEST_CASE("16 bytes at a time only where addresses and lengths allow") {
  auto packed = [](std::uintptr_t a) {
    return add(kLimits, kFull, 100, address(a), address(4096), address(8192))
        .as<AddParameters>()
        .packed;
  };
  CHECK(packed(4096));
  CHECK_FALSE(packed(4100));
}

TEST_CASE("gradient ops over nothing take no launch, and what their kernels cannot do is refused") {
  for (const StreamOp& op : std::initializer_list<StreamOp>{
           PackGradients{}, UnpackGradients{}, AddUpGradients{}, AddVector{}, CompressHalf{},
           DecompressHalf{}, CompressInt8{}, DecompressInt8{}, CompressOneBit{}, DecompressOneBit{},
           CompressTop{}, DecompressTop{}, ClipGradients{}, PowerFirst{}, PowerSecond{},
           PowerRestore{}})
    CHECK(launches(kLimits, op).empty());
  auto* const f = address<float>(4096);
  auto* const bytes = address<std::byte>(4096);
  auto refused = [](const StreamOp& op) { return refusal([&] { launches(kLimits, op); }); };
  CHECK(refused(CompressTop{std::int64_t{1} << 32, 1, 0, f, f, f, bytes, bytes}) ==
        "Kernel compress_top: an index has 32 bits.");
  CHECK(refused(CompressTop{10, 11, 0, f, f, f, bytes, bytes}) ==
        "Kernel compress_top: entries must be 1 to count.");
  CHECK(refused(CompressTop{10, 1, 0, f, f, f, bytes, bytes + 8}) ==
        "Kernel compress_top: the scratch memory is at 0x1008, which is no multiple of 16 bytes.");
  CHECK(refused(CompressInt8{10, f, f, bytes + 2}) ==
        "Kernel compress_int8: the message is at 0x1002, which is no multiple of 4 bytes.");
  CHECK(refused(DecompressInt8{10, 2, 12, bytes, f}) ==
        "Kernel decompress_int8: messages must lie a multiple of 4 bytes apart, and not in each "
        "other.");
  CHECK(refused(CompressOneBit{10, 1000, f, f, bytes}) ==
        "Kernel compress_one_bit: a part must be whole blocks.");
  CHECK(refused(DecompressOneBit{1025, 1024, 2, bytes, f}) ==
        "Kernel decompress_one_bit: several ranks send one part only.");
  CHECK(refused(ClipGradients{10, 0, f, address<double>(4096)}) ==
        "Kernel clip_gradients: the largest norm must be above 0.");
  const GradientTensor masked[] = {{f, 8, 1, NumberFormat::kFloat32, f}};
  CHECK(refused(UnpackGradients{masked, f}) ==
        "Kernel gradient_list: arrays of GPUs have no padding to mask.");
  const GradientTensor tensors[] = {{f, 8, 1, NumberFormat::kTf32}};
  CHECK(refused(PackGradients{tensors, f}) ==
        "Kernel pack_gradients: no array in memory has the format TF32.");
  const PowerMatrix matrix{0, 100, 100, 0, 0};
  CHECK(refused(PowerSecond{{65, 10'000, {&matrix, 1}, {}, f, f, f, f, 6500}}) ==
        "Kernel power_orthonormal: the rank must be 1 to 64.");
  CHECK(refused(PowerSecond{{1, 10'000, {&matrix, 1}, {}, f, f, nullptr, f, 100}}) ==
        "Kernel power_orthonormal: an array is null.");
}

TEST_CASE("ops on images of no batch take no launch, and images of no pixels are refused") {
  for (const StreamOp& op :
       std::initializer_list<StreamOp>{ShiftImages{}, ResizePictures{}, ColourPictures{}})
    CHECK(launches(kLimits, op).empty());
  auto* const f = address<float>(4096);
  auto* const bytes = address<std::uint8_t>(4097);
  auto* const parts = address<PicturePart>(4096);
  auto* const changes = address<ColourChange>(4096);
  auto refused = [](const StreamOp& op) { return refusal([&] { launches(kLimits, op); }); };
  CHECK(refused(ShiftImages{1, 0, 5, 1, 0, bytes, address<ImageShift>(4096), f}) ==
        "Kernel shift_images: an image must have at least one pixel.");
  CHECK(refused(ShiftImages{1, 4, 5, 1, 0, bytes, nullptr, f}) ==
        "Kernel shift_images: the list of shifts is null.");
  CHECK(refused(ResizePictures{1, 1 << 16, 1 << 15, 0, bytes, parts, bytes}) ==
        "Kernel resize_pictures: an image has too many pixels.");
  CHECK(refused(ResizePictures{1, 4, 5, 0, bytes, address<PicturePart>(4100), bytes}) ==
        "Kernel resize_pictures: the list of parts is at 0x1004, which is no multiple of 8 bytes.");
  CHECK(refused(ColourPictures{1, 4, 5, {}, {}, nullptr, changes, f}) ==
        "Kernel colour_pictures: the first picture is null.");
  CHECK(refused(ColourPictures{1, 4, 5, {}, {}, bytes, nullptr, f}) == "accepted");
}

TEST_CASE("images have a row of the grid each, and the blocks of all fill the GPU") {
  auto* const f = address<float>(4096);
  auto* const bytes = address<std::uint8_t>(4096);
  auto* const changes = address<ColourChange>(4096);
  auto grid = [&](std::int64_t images, int side, bool changed) {
    return launches(
               kLimits,
               ColourPictures{images, side, side, {}, {}, bytes, changed ? changes : nullptr, f})
        .front()
        .grid;
  };
  CHECK(grid(64, 224, true).x == 4);  // two blocks a multiprocessor: each adds up its image
  CHECK(grid(64, 224, false).x == 25);
  CHECK(grid(64, 8, false).x == 1);
  CHECK(grid(64, 224, true).y == 64);
  CHECK(grid(100'000, 224, true).x == 1);
  CHECK(grid(100'000, 224, true).y == 65535);
}

TEST_CASE("JPEGs take a launch for samples and one for pixels, eight threads a block") {
  CHECK(launches(kLimits, StreamOp{DecodeJpegBlocks{}}).empty());
  DecodeJpegBlocks op{2,
                      100,
                      address<std::int16_t>(4096),
                      address<JpegPicture>(4096),
                      address<std::uint8_t>(4096),
                      address<std::uint8_t>(4097)};
  const Launches sent = launches(kLimits, StreamOp{op});
  REQUIRE(sent.size() == 2);
  for (const Launch& launch : sent) CHECK(launch.grid.x * launch.threads == 1024);
  auto refused = [](const DecodeJpegBlocks& bad) {
    return refusal([&] { launches(kLimits, StreamOp{bad}); });
  };
  DecodeJpegBlocks bad = op;
  bad.blocks = 1;
  CHECK(refused(bad) == "Kernel jpeg_samples: there must be at least one block for each image.");
  bad = op, bad.images = -1;
  CHECK(refused(bad) == "Kernel jpeg_samples: there must be at least one block for each image.");
  bad = op, bad.coefficients = address<std::int16_t>(4104);
  CHECK(refused(bad) ==
        "Kernel jpeg_samples: the array of coefficients is at 0x1008, which is no multiple of 16 "
        "bytes.");
  bad = op, bad.pictures = address<JpegPicture>(4100);
  CHECK(refused(bad) ==
        "Kernel jpeg_samples: the list of pictures is at 0x1004, which is no multiple of 8 bytes.");
  bad = op, bad.samples = address<std::uint8_t>(4100);
  CHECK(refused(bad) ==
        "Kernel jpeg_samples: the scratch memory is at 0x1004, which is no multiple of 8 bytes.");
  bad = op, bad.to = nullptr;
  CHECK(refused(bad) == "Kernel jpeg_pixels: the result is null.");
}

TEST_CASE("the largest values are sought in pieces of whole tiles, however many values there are") {
  auto* const f = address<float>(4096);
  auto* const bytes = address<std::byte>(4096);
  for (std::int64_t count : {1L, 1024L, 1025L, 1L << 20, (1L << 20) + 1, (1L << 32) - 1}) {
    CAPTURE(count);
    const Launches sent = launches(kLimits, CompressTop{count, 1, 0, f, f, f, bytes, bytes});
    const auto by = sent.back().as<CompressTopParameters>();
    CHECK(by.piece % kTopTile == 0);
    CHECK(sent.back().grid.x <= TopScratch::kPieces);
    CHECK(sent.back().grid.x * by.piece >= count);
    CHECK((sent.back().grid.x - 1) * by.piece < count);
  }
}

TEST_CASE("what a kernel cannot do is refused, naming kernel and operand") {
  void* good = address(4096);
  CHECK(refusal([&] { add(kLimits, kFull, 0, good, good, good); }) ==
        "Kernel add: there must be at least one element.");
  CHECK(refusal([&] { add(kLimits, kFull, 4, nullptr, good, good); }) ==
        "Kernel add: an array is null.");
  CHECK(refusal([&] { add(kLimits, kFull, 4, address(4098), good, good); }) ==
        "Kernel add: an array is at 0x1002, which is no multiple of 4 bytes.");
  CHECK(refusal([&] { add(kLimits, NumberFormat::kFloat16, 4, address(4098), good, good); }) ==
        "accepted");
  CHECK(refusal([&] { add(kLimits, NumberFormat::kTf32, 4, good, good, good); }) ==
        "Kernel add: no array in memory has the format TF32 (use FP32).");
  CHECK(refusal([&] { cast(kLimits, kFull, kFull, 4, good, good); }) ==
        "Kernel cast: one of the two formats must be FP32.");
  CHECK(refusal([&] {
          max_pool_forward(kLimits, kFull, {1, 4, 4, 8, 16, 2, 1}, good, good,
                           address<std::uint8_t>(4096));
        }) == "Kernel max_pool_forward: the window is not 1 to 15 wide.");
  CHECK(refusal([&] {
          embedding_forward(kLimits, kFull, {10, 4, 8, 5}, {});
        }) == "Kernel embedding: the tokens are no whole number of sequences.");
  CHECK(refusal([&] {
          BatchNormArrays a;
          a.x = a.residual = a.y = good;
          a.gamma = a.beta = address<float>(4096);
          a.running_mean = a.running_variance = a.saved_mean = a.saved_rstd = a.scratch =
              address<float>(4096);
          batch_norm_forward(kLimits, kFull, {4, 8}, Epilogue::kAddRelu, 0, 0, a);
        }) == "Kernel batch_norm_forward: the mask is null.");
  CHECK(refusal([&] {
          softmax_cross_entropy(kLimits, kFull, {4, 8}, {});
        }) == "Kernel softmax_cross_entropy: an array is null.");
}

}  // namespace headway::kernels::cuda
