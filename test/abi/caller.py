"""What the checks of run.py, ranges.py and weights.py do as callers of an artefact: loading it, giving it a batch, being refused."""
import numpy as np


def load(path, num_threads=1, **options):
    import onnxc
    return onnxc.load(str(path), num_threads=num_threads, **options)


def refusal(model, feed, *words):
    """What is wrong with a run that must fail with all of `words` in its message; None where it does."""
    try:
        model.run(feed)
    except Exception as e:
        return None if all(w in str(e) for w in words) else str(e)
    return "no error"


def batch(n=5):
    """Of mlp_model."""
    return np.random.default_rng(7).standard_normal((n, 96)).astype(np.float32)
