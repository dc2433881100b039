"""Ranges of characters, written as the inside of a regular expression's character class.

Explicit ranges instead of Unicode properties: they mean the same in every version of Python and
in other regular expression engines.
"""

import re

KANJI = "\u3005-\u3007\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Han characters, with 々 〆 〇 〻."""

HIRAGANA = "\u3041-\u3096\u309d-\u309f"
"""Hiragana, with ゝ ゞ ゟ."""

KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
"""Katakana, with ー ヽ ヾ, small letters for Ainu, and half-width katakana."""

LONG_MARK = "\u30fc"
"""ー, katakana by its name, but it lengthens hiragana as well (らーめん)."""

SOUND_MARKS = "\u3099\u309a"
"""Combining dakuten and handakuten."""

VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors: choose a form of the character before them."""

UNSPACED = KANJI + HIRAGANA + KATAKANA
"""Scripts that put no space between words."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a UTF-16 pair. Not a character, not encodable as UTF-8; Python strings can hold it."""
