"""What the checks of this folder do: loading an artefact, giving it a batch, being refused, asking a tool about it."""
import subprocess

import numpy as np


def tool(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


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
