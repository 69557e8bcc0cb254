// SPDX-License-Identifier: MIT
#include "common/secrets.h"

#include <doctest/doctest.h>

namespace headway {

TEST_CASE("names of secrets are told from names of tokens and keys") {
  for (const char* name : {"password", "--password", "DB_PASSWORD", "hf-token", "HF_TOKEN", "token",
                           "WANDB_API_KEY", "--api-key", "apiKey", "aws_secret_access_key",
                           "MY_OWN_KEY", "client.secret", "Authorization", "AZURE_STORAGE_KEY"}) {
    CAPTURE(name);
    CHECK(names_secret(name));
  }
  for (const char* name :
       {"tokenizer", "--tokenizer", "max-tokens", "pad_token", "eos-token", "sort-key", "--key",
        "image_key", "keyboard", "PWD", "path", "epochs", "", "--", "secretary"}) {
    CAPTURE(name);
    CHECK_FALSE(names_secret(name));
  }
}

TEST_CASE("secrets of a command are masked, and nothing else is") {
  using Words = std::vector<std::string>;
  CHECK(mask_secrets(
            Words{"python3", "train.py", "--password=a b", "--token", "x9", "--epochs", "3"}) ==
        Words{"python3", "train.py", "--password=***", "--token", "***", "--epochs", "3"});
  CHECK(mask_secrets(Words{"env", "WANDB_API_KEY=0123", "python3"}) ==
        Words{"env", "WANDB_API_KEY=***", "python3"});
  CHECK(mask_secrets(Words{"--hf-token", "--verbose", "model"}) ==
        Words{"--hf-token", "--verbose", "model"});
  CHECK(mask_secrets(Words{"sh", "-c", "python3 t.py --password hunter2 --lr 1 && echo done"}) ==
        Words{"sh", "-c", "python3 t.py --password *** --lr 1 && echo done"});
  CHECK(mask_secrets(Words{"https://me:pw@host/x?user=1&token=abc&size=3"}) ==
        Words{"https://me:***@host/x?user=1&token=***&size=3"});
  CHECK(mask_secrets(Words{R"({"lr": 1, "api_key": "abc", "size": 2})"}) ==
        Words{R"({"lr": 1, "api_key": "***", "size": 2})"});
  CHECK(mask_secrets(Words{"push", "hf_AbCdEfGhIjKlMnOpQrStUvWx0123"}) == Words{"push", "hf_***"});
  const Words harmless = {"python3",
                          "-m",
                          "torch.distributed.run",
                          "--tokenizer",
                          "gpt2",
                          "lr=0.1",
                          "http://host:80/a",
                          "hf_model_large",
                          "a:b",
                          "--out=/x/key/y"};
  CHECK(mask_secrets(harmless) == harmless);
}

TEST_CASE("a command line in one text is masked like its words, and only once") {
  const std::string masked =
      "python3 t.py '--password=***' --token *** 'sh -c \"A_KEY=*** x\"' --lr 3";
  CHECK(mask_secrets(
            "python3 t.py '--password=two words' --token abc 'sh -c \"A_KEY=abc x\"' --lr 3") ==
        masked);
  CHECK(mask_secrets(masked) == masked);
  CHECK(mask_secrets("") == "");
  CHECK(mask_secrets("--password") == "--password");
  CHECK(mask_secrets("unclosed 'quote --token=1") == "unclosed 'quote --token=***");
}

}  // namespace headway
