"""Makes the tiny model that two of the recorded servers served: a Qwen3 that knows a few answers by heart.

Run it where torch, transformers and gguf are installed; it takes about a minute and writes `tiny-qwen3/` (for
`transformers serve`) and `tiny-qwen3.gguf` (for llama-cpp-python) into the current folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

NAME = "tiny-qwen3"
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ANSWERS = {
    "Which one?": "<think>Only the first fits.</think>The answer is (A).",
    "Say it.": "Café ☕ is “数字”.\nDone.",
    "Add twice.": "<think>Two sums.</think>Adding.\n"
    '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>\n'
    '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 5}}\n</tool_call>',
}
COUNTING = "One, two, three, four, five."


def texts() -> list[str]:
    """Everything the model learns, as it sees it."""
    turns = [f"<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n{a}" for q, a in ANSWERS.items()]
    return [f"{text}<|im_end|>" for text in [*turns, COUNTING]]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level pairs; what occurs once (é, ☕, 数字) stays single bytes, so that streams must wait for it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*ANSWERS, *ANSWERS.values(), COUNTING, COUNTING, *ANSWERS], trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in MARKS])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT_TEMPLATE,
    )


def train(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Learns the texts by heart."""
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=32,
            max_position_embeddings=1024,
            rope_theta=10000.0,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    batch = tokenizer(texts(), return_tensors="pt", padding=True, add_special_tokens=False)
    labels = batch.input_ids.masked_fill(batch.attention_mask == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(600):
        loss = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.generation_config.do_sample = False
    return model.eval()


def write_gguf(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """The same model in llama.cpp's format; tensor names by gguf's own table."""
    config, vocabulary = model.config, json.loads(tokenizer.backend_tokenizer.to_str())
    writer = gguf.GGUFWriter(f"{NAME}.gguf", "qwen3")
    writer.add_name(NAME)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    write_vocabulary(writer, vocabulary, tokenizer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        known = names.get_name(name, try_suffixes=(".weight",))
        writer.add_tensor(known, tensor.float().contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_vocabulary(writer: gguf.GGUFWriter, vocabulary: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    """Tokens, merges and the special ones."""
    tokens = {number: token for token, number in vocabulary["model"]["vocab"].items()}
    kinds = dict.fromkeys(tokens, gguf.TokenType.NORMAL)
    for added in vocabulary["added_tokens"]:
        tokens[added["id"]] = added["content"]
        kinds[added["id"]] = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([tokens[number] for number in range(len(tokens))])
    writer.add_token_types([kinds[number] for number in range(len(tokens))])
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["model"]["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_bos_token_id(tokenizer.pad_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def main() -> None:
    """Makes the model, checks that it knows its answers, and writes both forms."""
    tokenizer = make_tokenizer()
    model = train(tokenizer)
    for text in texts()[: len(ANSWERS)]:
        prompt, answer = text.split("assistant\n")
        ids = tokenizer(f"{prompt}assistant\n", return_tensors="pt").input_ids
        said = tokenizer.decode(model.generate(ids, max_new_tokens=150)[0][ids.shape[1] :])
        if said != answer:
            raise SystemExit(f"The model did not learn {answer!r}; it says {said!r}.")
    model.save_pretrained(NAME)
    tokenizer.save_pretrained(NAME)
    write_gguf(model, tokenizer)
    print(f"Wrote {Path(NAME)} and {NAME}.gguf, {model.num_parameters()} parameters.")


if __name__ == "__main__":
    main()
