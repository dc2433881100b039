"""Follows one sentence through a block, then asks: what if a token looked elsewhere?

It prints:

    ('I', 'like', 'small', 'models') → (2, 3, 4, 5)
    positioned       ('batch', 'seq', 'embed') (1, 4, 8)
    key_transposed   ('batch', 'width', 'key') (1, 8, 4)
    scores           ('batch', 'query', 'key') (1, 4, 4)
    'models' looks at: I 0.07, like 0.02, small 0.22, models 0.69
    and if it looked at 'I' only, its new vector is the value of 'I': True
"""

import numpy as np

import clearformer as cf

trace = cf.explain("I like small models")
print(trace.tokens, "→", trace.ids)
for name in ("positioned", "blocks.0.attention.key_transposed", "blocks.0.attention.scores"):
    stage = trace[name]
    print(f"{name.split('.')[-1]:<16} {stage.axes} {stage.shape}")

row = trace["blocks.0.attention.weights"][0, 3]
shares = ", ".join(f"{token} {share:.2f}" for token, share in zip(trace.tokens, row, strict=True))
print(f"'models' looks at: {shares}")

weights = np.array(trace["blocks.0.attention.weights"])
weights[0, 3] = [1, 0, 0, 0]
edited = trace.what_if({"blocks.0.attention.weights": weights})
mixed, value = edited["blocks.0.attention.mixed"], trace["blocks.0.attention.value"]
print(
    "and if it looked at 'I' only, its new vector is the value of 'I':",
    np.allclose(mixed[0, 3], value[0, 0]),
)
