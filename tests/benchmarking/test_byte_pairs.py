"""The peers of byte pairs do the same work, and what is measured is told."""

import pytest

from clearformer.benchmarking import byte_pairs
from clearformer.text.bytepair import BytePairs

TEXT = "The rain taps on the roof, and a cat sleeps on the stone.\n猫は石の上で眠る。\n" * 30


def test_tiktoken_gives_the_same_ids():
    pytest.importorskip("tiktoken", reason="a peer that is not a dependency")
    learned = BytePairs.of(TEXT, 400)
    wild = TEXT + "a'b 1234 \n\n\n  ?! ヴィクトリア 👩‍🚀 \t x" * 3
    assert byte_pairs.in_tiktoken(learned).encode_ordinary(wild) == list(learned.encode(wild))


def test_the_library_learns_as_many_pairs_and_gives_back_the_text():
    learned = byte_pairs.learned_by_tokenizers(byte_pairs.Setting(TEXT, 300))
    assert learned.get_vocab_size() == BytePairs.of(TEXT, 300).vocabulary_size == 300
    assert learned.decode(learned.encode(TEXT).ids) == TEXT


def test_every_side_is_measured_or_told_to_be_absent(monkeypatch):
    monkeypatch.setattr(byte_pairs, "find_spec", lambda name: None)
    report = byte_pairs.run("encoding", byte_pairs.Setting(TEXT, 300, threads=1), turns=1)
    assert list(report.sides) == ["clearformer", "tokenizers"]
    assert "tiktoken is not installed (pip install tiktoken)" in report.notes


def test_without_peers_clearformer_is_measured_alone():
    alone = byte_pairs.Setting("a" * 1000, threads=1)
    report = byte_pairs.run("one-letter", alone, turns=1, peers=False)
    assert list(report.sides) == ["clearformer"]
