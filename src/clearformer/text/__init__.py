"""From a file to arrays of ids: reading, tokenizers, splitting, batching, streaming."""

from clearformer.text.batches import Batches, windows
from clearformer.text.bytepair import BytePairs
from clearformer.text.characters import Characters
from clearformer.text.corpus import Corpus, default_corpus, read_corpus
from clearformer.text.split import split_text
from clearformer.text.stream import TextStream
from clearformer.text.tokenizer import (
    KINDS,
    Tokenizer,
    build_tokenizer,
    load_tokenizer,
    save_tokenizer,
)
from clearformer.text.words import Words

__all__ = [
    "KINDS",
    "Batches",
    "BytePairs",
    "Characters",
    "Corpus",
    "TextStream",
    "Tokenizer",
    "Words",
    "build_tokenizer",
    "default_corpus",
    "load_tokenizer",
    "read_corpus",
    "save_tokenizer",
    "split_text",
    "windows",
]
