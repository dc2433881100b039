"""What training two models would cost on several machines: computed from sizes, not measured.

It prints:

    124 M parameters, 10.0 B tokens: 0.855 GFLOP per token, …
    …
    1.3 B parameters, 26.2 B tokens: …
    …
"""

from clearformer.models.configuration import ModelConfiguration
from clearformer.training.cluster import ACCELERATORS, Cluster, this_machine
from clearformer.training.cost import Cost, advised_tokens, data_bytes, save_bytes

small = ModelConfiguration(50_304, layers=12, heads=12, embed=768, context=1024, tied=True)
large = ModelConfiguration(50_304, layers=24, heads=16, embed=2048, context=2048, tied=True)
L4, RTX, A100, H100 = (ACCELERATORS[name] for name in ("L4", "RTX 4090", "A100", "H100"))


def plan(name: str, model: ModelConfiguration, tokens: int, batch: int, ways: list[Cost]) -> None:
    work = ways[0].flops_per_token
    print(
        f"{name} parameters, {tokens / 1e9:.1f} B tokens: {work / 1e9:.3f} GFLOP per token, "
        f"{data_bytes(tokens, model.vocabulary) / 1e9:.0f} GB of data,\n"
        f"{tokens // (batch * model.context):,} steps of {batch} × {model.context:,} tokens, "
        f"{save_bytes(model) / 1e9:.1f} GB in a save"
    )
    print("  GPUs               parallel  parts × rows   memory  s per step    tokens/s     days")
    for way in ways:
        cost, memory = way.in_parts(), way.in_parts().memory.total / 1e9
        rows = cost.batch // cost.accumulation
        print(
            f"  {way.cluster.gpus:2} × {way.cluster.accelerator.name:13} {way.parallel:9}"
            f"{cost.accumulation:6} × {rows:3}{memory:7.1f} GB",
            f"{cost.seconds:11.2f}{cost.tokens_per_second:12,.0f}{cost.days(tokens):9.2f}"
            if cost.fits
            else "   does not fit",
        )
    print()


laptop = Cluster(this_machine())
plan(
    "124 M", small, 10 * 10**9, 512,
    [
        Cost(small, laptop, 512, precision="float32", utilisation=0.6),
        Cost(small, Cluster(RTX), 512),
        Cost(small, Cluster(A100), 512),
        Cost(small, Cluster(A100, 8), 64),
        Cost(small, Cluster(H100, 64), 8),
    ],
)  # fmt: skip
plan(
    "1.3 B", large, advised_tokens(large), 512,
    [
        Cost(large, Cluster(RTX), 512),
        Cost(large, Cluster(L4, 8), 64, "shard"),
        Cost(large, Cluster(A100, 8), 64),
        Cost(large, Cluster(A100, 8), 64, "shard"),
        Cost(large, Cluster(H100, 64), 8),
        Cost(large, Cluster(H100, 64), 8, "shard"),
    ],
)  # fmt: skip
