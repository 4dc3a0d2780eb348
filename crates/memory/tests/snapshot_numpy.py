"""The snapshot as Python sees it: one case per line in, one line out. Every warning is an error.

A case is {"dir": …, "ids": …, "meta": …, "emb": [[hex of each float]], "dimension": …}; in `dir` there are ours.pkl,
ours.npz and ours.npy. The script compares them with the case, and writes python4.pkl, python5.pkl, fortran4.pkl,
fortran5.pkl, text.npz and bytes.npz for our reader.
"""

import json
import pickle
import struct
import sys
import warnings

import numpy

warnings.simplefilter("error")


def same(left, right):
    """Equal with their types: 1, 1.0 and True are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return struct.pack("<d", left) == struct.pack("<d", right)
    return left == right


def check_matrix(emb, floats):
    assert type(emb) is numpy.ndarray and emb.dtype == numpy.float32, emb.dtype
    assert emb.shape == floats.shape, (emb.shape, floats.shape)
    assert emb.flags.c_contiguous and emb.tobytes() == floats.tobytes()


def check(case):
    place = case["dir"] + "/"
    count = len(case["ids"])
    floats = numpy.array([int(bits, 16) for bits in case["emb"]], dtype="<u4").view("<f4")
    floats = floats.reshape((count, case["dimension"]))

    with open(place + "ours.pkl", "rb") as file:
        ours = pickle.load(file)
    assert list(ours) == ["emb", "ids", "meta"], list(ours)
    assert same(ours["ids"], case["ids"]) and same(ours["meta"], case["meta"])
    check_matrix(ours["emb"], floats)
    assert ours["emb"].flags.writeable
    ours["emb"] += 1
    ours["emb"] = floats

    with numpy.load(place + "ours.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["emb", "ids", "meta"]
        check_matrix(arrays["emb"], floats)
        assert same(json.loads(bytes(arrays["ids"])), case["ids"])
        assert same(json.loads(bytes(arrays["meta"])), case["meta"])
    check_matrix(numpy.load(place + "ours.npy", allow_pickle=False), floats)

    for protocol in (4, 5):
        for name, emb in (("python", floats), ("fortran", numpy.asfortranarray(floats))):
            with open(f"{place}{name}{protocol}.pkl", "wb") as file:
                pickle.dump({"ids": case["ids"], "meta": case["meta"], "emb": emb}, file, protocol=protocol)
    meta = numpy.frombuffer(json.dumps(case["meta"]).encode(), dtype=numpy.uint8)
    ids = numpy.frombuffer(json.dumps(case["ids"]).encode(), dtype=numpy.uint8)
    numpy.savez(place + "bytes.npz", ids=ids, meta=meta, emb=numpy.asfortranarray(floats))
    numpy.savez(place + "text.npz", ids=numpy.array(case["ids"], dtype=str), meta=meta, emb=floats)


print(numpy.__version__, flush=True)
for line in sys.stdin:
    check(json.loads(line))
    print("same", flush=True)
