def learning_rate(step, warmup, total, peak):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step >= total:
        return 0.0
    return peak * (total - step) / (total - warmup)
