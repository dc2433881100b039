import json
from dataclasses import replace

import numpy as np

from clearformer.comparison.why.reasons import Reasons, reasons_of
from comparison.why.tiny import tiny


def test_every_reason_is_measured_and_kept_in_plain_json():
    heard = []
    found = reasons_of(
        [tiny()], seconds=0.01, written=2, progress=lambda what, share: heard.append(share)
    )
    assert [each.name for each in found.fading] == ["decoder"]
    assert [each.name for each in found.growth] == ["decoder"]
    assert [each.name for each in found.seen] == ["decoder"]
    assert found.attention is not None and len(found.looking) == len(found.temperature) == 1
    written = json.loads(json.dumps(found.to_json()))
    assert Reasons.from_json(*written) == found
    assert heard == sorted(heard) and heard[-1] == 1


def test_where_nothing_is_held_out_nothing_is_measured():
    assert reasons_of([replace(tiny(), held_out=np.zeros(0, int))]) == Reasons()


def test_a_document_without_reasons_has_none():
    assert Reasons.from_json({}, {}) == Reasons()
