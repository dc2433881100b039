"""What is said to a learner, in each language."""

from typing import NamedTuple

LANGUAGES = ("en", "ja")


class Words(NamedTuple):
    """One sentence or text in English and Japanese."""

    en: str
    ja: str

    def to(self, language: str) -> str:
        """The words in `language`, en or ja."""
        return self.ja if language == "ja" else self.en

    def about(self, **facts: object) -> "Words":
        """The words with each {name} replaced by its fact, the same in both languages."""
        return Words(self.en.format(**facts), self.ja.format(**facts))
