"""Notes on a search and on vocabularies, by language; the others stand among the report's words."""

from collections.abc import Mapping

NOTE_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "smallest": "in the short trials of the search the smallest learning rate that was tried "
        "did about as well as the best (within 2 %), so it was taken; with so little training the "
        "rates hardly differ: {names}",
        "smallest_of": "{name} ({chosen:g}; best at {best:g})",
        "vocabulary": "a vocabulary of words or byte pairs is made from the whole text, also "
        "from the part that models are judged by, so it can hold words that stand only there; "
        "beside another tokenizer that flatters it in bits per character: {names}",
    },
    "ja": {
        "smallest": "探索の短い試行では、試した最小の学習率が最良のものとほぼ同じ（差は 2 % 以内）"
        "だったので、それを採った。学習がこれほど短いと、学習率による差はほとんど出ない：{names}",
        "smallest_of": "{name}（{chosen:g}、最良は {best:g}）",
        "vocabulary": "単語やバイト対の語彙は、評価に使う部分も含む文章全体から作るので、評価"
        "する部分にしかない単語も載りうる。ほかのトークナイザと並べると、ビット／文字はその分だけ良く"
        "見える：{names}",
    },
}
