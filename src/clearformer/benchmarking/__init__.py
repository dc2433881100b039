"""How quick clearformer is on this machine, beside a peer in the same run."""
