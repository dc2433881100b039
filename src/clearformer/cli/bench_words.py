"""What the table of speed says, in English and Japanese."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Of one language; `{}` is filled in."""

    language: str
    what: str
    ours: str
    peer: str
    ratio: str
    goal: str
    reached: str
    missed: str
    unknown: str
    against: str
    absent: str
    failed: str
    busy: str
    quick: str
    recorded: str
    stopped: str
    lost: str

    def verdict(self, reached: bool | None) -> str:
        """Whether a goal is reached, in a word."""
        return self.unknown if reached is None else self.reached if reached else self.missed


ENGLISH = Words(
    language="en",
    what="what",
    ours="ours",
    peer="peer",
    ratio="ratio (quartiles)",
    goal="goal",
    reached="yes",
    missed="no",
    unknown="?",
    against="against {}",
    absent="no peer here: {}",
    failed="could not be measured: {}",
    busy="others took {:.0%} of the processors when this began; measure again on a quiet machine",
    quick="--quick: fewer turns and less work, so these figures are rough",
    recorded="\nThe record is in {}",
    stopped="stopped; what was measured so far stands above",
    lost="{}: the ratio is {:.2f} times as bad as in the record",
)

JAPANESE = Words(
    language="ja",
    what="項目",
    ours="当方",
    peer="比較相手",
    ratio="比(四分位)",
    goal="目標",
    reached="達成",
    missed="未達",
    unknown="?",
    against="比較相手:{}",
    absent="比較相手がありません。入れ方:{}",
    failed="測れませんでした:{}",
    busy="始めたときに、ほかのプログラムがプロセッサーの {:.0%} を使っていました。"
    "静かなときに測り直してください",
    quick="--quick:回数も仕事も少ないので、おおよその値です",
    recorded="\n記録は {} にあります",
    stopped="止めました。そこまでに測ったものは上にあります",
    lost="{}:比が記録の {:.2f} 倍悪くなっています",
)

LANGUAGES = {"en": ENGLISH, "ja": JAPANESE}
