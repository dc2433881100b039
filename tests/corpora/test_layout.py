"""Laws of sharing a text out: shards follow each other, and end where a tokenizer always cuts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.corpora.layout import Layout
from clearformer.text.text_files import Landmark, TextFiles
from clearformer.text.tokenizer import tokenizer_class
from corpora.small import TEXT, written
from text.samples import kinds, many_examples, texts


def landmarks_of(path, piece):
    files = TextFiles(path, piece=piece)
    found = [Landmark()]
    for _ in files:
        if files.landmark and files.characters % 3 == 0:
            found.append(files.landmark)
    return found


@settings(many_examples, max_examples=100)
@given(
    kinds,
    st.one_of(st.just(TEXT), st.lists(texts, min_size=5, max_size=40).map("".join)),
    st.integers(64, 200),
    st.integers(3, 99),
    st.floats(0.1, 0.9),
)
def test_shards_cover_each_part_in_order(tmp_path_factory, kind, text, share, piece, border_share):
    text = text.replace("\0", "").replace("\r\n", "\n")
    if not text.strip():
        return
    path = written(tmp_path_factory.getbasetemp(), text)
    text = "".join(TextFiles(path))
    cuts = tokenizer_class(kind).cuts()
    layout = Layout([path], "utf-8", cuts, landmarks_of(path, piece), piece)
    border = int(len(text) * border_share)
    for part, begin, end in (("train", 0, border), ("validation", border, len(text))):
        place = begin
        shards = layout.shards(part, begin, end, share)
        for number, shard in enumerate(shards):
            assert shard.name == f"{part}-{number:05}.ids"
            assert shard.part == part
            assert text[place : shard.begin] in ("", " ")
            assert place <= shard.begin < shard.end
            assert shard.landmark.characters <= shard.begin
            target = shard.begin + share
            first = cuts.after(text[:end], target) if target < end else None
            if shard.end < end:  # at the first place after its share, and always a place
                following = shard.end, shards[number + 1].begin
                assert cuts.after(text, shard.end) == first == following
            else:
                assert first is None or first[1] == end
            place = shard.end
        assert place == end
