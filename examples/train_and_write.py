"""Trains a tiny model on a text for a few seconds, lets it write, and measures it.

It prints:

    after 150 steps it writes: The …
    nats per token: …
    opened again, it writes the same: True
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import clearformer as cf

TEXT = """The kettle hums and the rain taps on the roof of the small house by the river.
A cat sleeps on the warm stone, and the old clock counts the quiet minutes.
When the rain stops, the garden smells of mint, and someone opens the window.
"""

with TemporaryDirectory() as folder:
    run = cf.train(TEXT * 60, out=Path(folder) / "run", size="tiny", steps=150)
    written = run.generate("The ", tokens=28, temperature=0)
    print(f"after {run.step} steps it writes: The {written}")
    print(f"nats per token: {run.evaluate(TEXT).loss:.2f}")

    again = cf.load(run.path)
    print("opened again, it writes the same:", again.generate("The ", 28, temperature=0) == written)
