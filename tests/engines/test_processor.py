"""Who made the processor."""

import pytest

from clearformer.engines import processor

INTEL = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"


@pytest.fixture(autouse=True)
def asked_anew():
    processor.made_by_amd.cache_clear()
    yield
    processor.made_by_amd.cache_clear()


@pytest.mark.parametrize(
    ("told", "named", "amd"),
    [
        (INTEL, "", False),
        (INTEL.replace("GenuineIntel", "AuthenticAMD"), "", True),
        ("", "AMD64 Family 25 Model 33 Stepping 0, AuthenticAMD", True),  # Windows
        ("", "arm", False),
    ],
)
def test_it_is_told_by_the_system(told, named, amd, tmp_path, monkeypatch):
    file = tmp_path / "cpuinfo"
    if told:
        file.write_text(told)
    monkeypatch.setattr(processor, "DESCRIPTION", file)
    monkeypatch.setattr(processor.platform, "processor", lambda: named)
    monkeypatch.setattr(processor.sys, "platform", "linux" if told else "win32")
    assert processor.made_by_amd() is amd
