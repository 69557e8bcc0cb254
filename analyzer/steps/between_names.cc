// SPDX-License-Identifier: MIT
// What the name of a range says of the time between steps.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "analyzer/steps/range_names.h"

namespace headway::analyzer {
namespace {

struct Word {
  std::string_view word;
  BetweenCause cause;
};

/// Whole words of names, in lower case. Trainers' own ranges (Lightning's hooks, Hugging Face's
/// Trainer, Megatron's timers), Python's frames ("torch/serialization.py(…): save") and what people
/// write themselves.
constexpr std::array kWords = std::to_array<Word>({
    {"eval", BetweenCause::kEvaluation},
    {"evaluate", BetweenCause::kEvaluation},
    {"evaluation", BetweenCause::kEvaluation},
    {"evaluating", BetweenCause::kEvaluation},
    {"validate", BetweenCause::kEvaluation},
    {"validation", BetweenCause::kEvaluation},
    {"val", BetweenCause::kEvaluation},
    {"checkpoint", BetweenCause::kCheckpoint},
    {"checkpoints", BetweenCause::kCheckpoint},
    {"checkpointing", BetweenCause::kCheckpoint},
    {"ckpt", BetweenCause::kCheckpoint},
    {"snapshot", BetweenCause::kCheckpoint},
    {"save", BetweenCause::kCheckpoint},
    {"serialization", BetweenCause::kCheckpoint},
    {"log", BetweenCause::kLogging},
    {"logs", BetweenCause::kLogging},
    {"logger", BetweenCause::kLogging},
    {"logging", BetweenCause::kLogging},
    {"tensorboard", BetweenCause::kLogging},
    {"wandb", BetweenCause::kLogging},
    {"mlflow", BetweenCause::kLogging},
    {"gc", BetweenCause::kGarbageCollection},
    {"garbage", BetweenCause::kGarbageCollection},
});

/// Two words that only together say that the loader begins anew.
constexpr std::array<std::string_view, 4> kLoader = {"dataloader", "loader", "worker", "workers"};
constexpr std::array<std::string_view, 9> kRestart = {
    "iter", "iterator", "init", "reset", "restart", "restarts", "start", "spawn", "shutdown"};

/// "save_checkpoint" and "SaveCheckpoint" -> "save", "checkpoint".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (!std::isalpha(c)) {
      open = false;
      continue;
    }
    const bool hump =
        std::isupper(c) && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1]));
    if (!open || hump) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(c));
    open = true;
  }
  return words;
}

template <class List>
bool any_of(const std::vector<std::string>& words, const List& list) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(list.begin(), list.end(), std::string_view(word)) != list.end();
  });
}

}  // namespace

BetweenCause between_cause_of_name(std::string_view name) {
  // Longer names are kernel names or prose.
  constexpr std::size_t kLongest = 120;
  if (name.size() > kLongest || means_input_wait(name) || name.starts_with("aten::"))
    return BetweenCause::kOther;
  if (name.find("built-in function collect") != std::string_view::npos)
    return BetweenCause::kGarbageCollection;
  const std::vector<std::string> words = words_of(name);
  // Recomputation is also called checkpointing, but belongs to the step.
  if (any_of(words,
             std::to_array<std::string_view>({"backward", "forward", "function", "recompute"})))
    return BetweenCause::kOther;
  // words_of() splits "DataLoader".
  const bool loader = any_of(words, kLoader) || name.find("DataLoader") != std::string_view::npos ||
                      name.find("dataloader") != std::string_view::npos;
  if (loader && any_of(words, kRestart)) return BetweenCause::kLoaderRestart;
  for (const Word& one : kWords) {
    if (std::find(words.begin(), words.end(), one.word) != words.end()) return one.cause;
  }
  return BetweenCause::kOther;
}

bool never_belongs_to_a_step(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "torch.save",          "torch.distributed.checkpoint", "keras.Model.save",
      "tf.train.Checkpoint", "garbage collection",           "gc.collect"};
  return name.find("built-in function collect") != std::string_view::npos ||
         std::ranges::any_of(kNames, [&](std::string_view one) { return name.starts_with(one); });
}

}  // namespace headway::analyzer
