"""./dev reduce: the smallest model for which a command still fails, for bug reports and regression tests.

usage: reduce.py MODEL.onnx --fails COMMAND [-o REDUCED.onnx]

COMMAND is run by the shell with {} replaced by a candidate's path; it must fail (exit code not 0) for MODEL itself. Nodes go first, in halves and
then one by one: the values they made become inputs of the model, values that nothing reads any more become outputs; then unused weights go.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import helper


def value_types(model):
    """Every value that has a known type."""
    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except onnx.shape_inference.InferenceError:
        graph = model.graph
    return {v.name: v for v in [*graph.input, *graph.value_info, *graph.output]}


def outer_reads(node):
    """Names that a node reads, those of its subgraphs included."""
    names = {i for i in node.input if i}
    for attribute in node.attribute:
        for graph in [attribute.g, *attribute.graphs]:
            made = {o for n in graph.node for o in n.output} | {i.name for i in graph.input} | {t.name for t in graph.initializer}
            names |= ({r for n in graph.node for r in outer_reads(n)} | {o.name for o in graph.output}) - made
    return names


def with_nodes(model, nodes, types):
    """The model of only these nodes; None where a value at its edge has no type."""
    made = {o for n in nodes for o in n.output if o}
    read = set().union(*(outer_reads(n) for n in nodes)) if nodes else set()
    weights = [w for w in model.graph.initializer if w.name in read]
    inputs = sorted(read - made - {w.name for w in weights} - {w.values.name for w in model.graph.sparse_initializer})
    outputs = [o for n in nodes for o in n.output if o and (o not in read or o in {v.name for v in model.graph.output})]
    if not outputs or any(v not in types for v in [*inputs, *outputs]):
        return None
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = helper.make_graph(nodes, model.graph.name, [types[i] for i in inputs], [types[o] for o in outputs], weights)
    graph.sparse_initializer.extend(w for w in model.graph.sparse_initializer if w.values.name in read)
    result.graph.CopyFrom(graph)
    return result


def reduce(model, fails):
    types, nodes, step, best = value_types(model), list(model.graph.node), max(1, len(model.graph.node) // 2), model
    while True:
        at = shrunk = 0
        while at < len(nodes):
            candidate = with_nodes(model, nodes[:at] + nodes[at + step:], types)
            if candidate is not None and fails(candidate):
                nodes, shrunk, best = nodes[:at] + nodes[at + step:], 1, candidate
                print(f"{len(nodes)} nodes", file=sys.stderr)
            else:
                at += step
        if step == 1 and not shrunk:
            return best
        step = max(1, step // 2)


def main():
    p = argparse.ArgumentParser(prog="./dev reduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", type=Path)
    p.add_argument("--fails", required=True, metavar="COMMAND")
    p.add_argument("-o", "--output", type=Path)
    args = p.parse_args()
    try:
        model = onnx.load(args.model)
    except (OSError, DecodeError) as e:
        sys.exit(f"{args.model}: {e}")
    output = args.output or args.model.with_suffix(".reduced.onnx")
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):  # before hours of work
        sys.exit(f"{output}: cannot be written")
    with tempfile.TemporaryDirectory() as tmp:
        def fails(candidate):
            path = Path(tmp) / "candidate.onnx"
            path.write_bytes(candidate.SerializeToString())
            return subprocess.run(args.fails.replace("{}", f"'{path}'"), shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
        if not fails(model):
            sys.exit(f"{args.model}: the command succeeds, there is nothing to reduce")
        reduced = reduce(model, fails)
    output.write_bytes(reduced.SerializeToString())
    print(f"{output}: {len(reduced.graph.node)} of {len(model.graph.node)} nodes")


if __name__ == "__main__":
    main()
