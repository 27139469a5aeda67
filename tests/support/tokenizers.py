"""A tokenizer file made on the spot: byte-level, so that a word has the space before it, as most models' have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_tokenizer(path: Path) -> Path:
    """Write a `tokenizer.json` that has learnt a few words, cuts long texts short and adds a token in front."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    words = ["Q: which? A: red Q: which? A: white red white which", "Question: Answer: yes no"] * 9
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(words, trainer)
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)]),
        ]
    )
    made.enable_truncation(4)
    made.enable_padding(length=64)
    path.write_text(made.to_str(), encoding="utf-8")
    return path
