# SPDX-License-Identifier: Apache-2.0
"""The handlers that compiled code of JAX calls, without JAX: the tests are XLA. CTest runs them over the emulator, too,
whose GPU computes on arrays of the host."""

import ctypes
import json
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np
import pytest

import shoal
from shoal import _core
from shoal._runtime import new_context

EMULATED = shoal.info()["gpu"].startswith("SIMT")
rng = np.random.default_rng(0)


def struct(name, **members):
    return type(name, (Structure,), {"_fields_": list(members.items())})


HEAD = {"size": c_size_t, "extensions": c_void_p}
Extension = struct("Extension", size=c_size_t, kind=c_int, next=c_void_p)
Version = struct("Version", **HEAD, major=c_int, minor=c_int)
Metadata = struct("Metadata", size=c_size_t, version=Version, traits=c_uint32)
MetadataExtension = struct("MetadataExtension", extension=Extension, metadata=POINTER(Metadata))
Buffer = struct("Buffer", **HEAD, type=c_int, data=c_void_p, rank=c_int64, dims=POINTER(c_int64))
Buffers = struct("Buffers", **HEAD, count=c_int64, kinds=c_void_p, buffers=POINTER(POINTER(Buffer)))
Span = struct("Span", data=c_char_p, size=c_size_t)
Scalar = struct("Scalar", type=c_int, value=POINTER(c_int64))
Attributes = struct(
    "Attributes", **HEAD, count=c_int64, kinds=c_void_p, names=POINTER(POINTER(Span)), values=POINTER(c_void_p)
)
Error = struct("Error", **HEAD, message=c_char_p, code=c_int)
Stream = struct("Stream", **HEAD, execution=c_void_p, stream=c_void_p)
Device = struct("Device", **HEAD, execution=c_void_p, device=c_int32)
function = lambda arguments: CFUNCTYPE(c_void_p, POINTER(arguments))  # noqa: E731
Api = struct("Api", **HEAD, version=Version, internal=c_void_p, create_error=function(Error), unused=c_void_p * 3,
             stream=function(Stream), others=c_void_p * 12, device=function(Device))  # fmt: skip
Frame = struct("Frame", **HEAD, api=POINTER(Api), execution=c_void_p, stage=c_int, arguments=Buffers, results=Buffers,
               attributes=Attributes)  # fmt: skip


@pytest.fixture(autouse=True)
def plans():
    made = []

    def make(settings, count, device):
        options = json.loads(settings)
        made.append((count, device))
        return getattr(_core, options.pop("plan"))(new_context(device), {**options, "count": count})

    _core.xla_start(make)
    yield made
    jax_of_shoal = sys.modules.get("shoal._jax")
    _core.xla_start(jax_of_shoal and jax_of_shoal._make)


def handler(on_gpu):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    return CFUNCTYPE(c_void_p, POINTER(Frame))(get(_core.xla_handler(on_gpu), None))


def buffers(arrays):
    made = []
    for a in arrays:
        dims = (c_int64 * a.ndim)(*a.shape)
        made.append(Buffer(ctypes.sizeof(Buffer), None, 0, a.ctypes.data, a.ndim, dims))
    pointers = (POINTER(Buffer) * len(made))(*map(ctypes.pointer, made))
    return Buffers(ctypes.sizeof(Buffers), None, len(made), None, pointers)


def call(on_gpu, name, arguments, results, system, fields=1, api_size=ctypes.sizeof(Api), **settings):
    """What XLA does; returns the message of an error."""
    messages = []
    create = function(Error)(lambda e: messages.append(e[0].message.decode()) or 1)
    stream = function(Stream)(lambda a: None)  # the stream 0
    device = function(Device)(lambda a: None)  # the device 0
    api = Api(api_size, None, Version(), None, create, (c_void_p * 3)(), stream, (c_void_p * 12)(), device)
    text = lambda word: Span(word.encode(), len(word))  # noqa: E731
    number = lambda value: Scalar(5, ctypes.pointer(c_int64(value)))  # noqa: E731
    given = {"call": text(name), "fields": number(fields), "settings": text(json.dumps(settings)),
             "system": number(system)}  # fmt: skip
    names = (POINTER(Span) * 4)(*(ctypes.pointer(text(word)) for word in given))
    values = (c_void_p * 4)(*(ctypes.addressof(value) for value in given.values()))
    attributes = Attributes(ctypes.sizeof(Attributes), None, 4, None, names, values)
    frame = Frame(ctypes.sizeof(Frame), None, ctypes.pointer(api), None, 3, buffers(arguments), buffers(results), attributes)
    failed = handler(on_gpu)(frame)
    assert bool(failed) == bool(messages)
    return messages[0] if failed else None


def systems(count, n=4):
    A = rng.normal(size=(count, n, n))
    return A + A.swapaxes(1, 2) + 4 * n * np.eye(n), rng.normal(size=(count, n, 2))


@pytest.mark.parametrize("on_gpu", [False, True])
def test_functions_on_buffers(on_gpu, plans):
    if on_gpu and not EMULATED:
        pytest.skip("arrays of the host are no memory of a GPU")
    A, b = systems(5)
    A[3, 0, 0] = np.nan
    x, status = np.empty_like(b), np.empty(5, np.int32)
    for _ in range(2):
        assert call(on_gpu, "smallsym_solve", (A, b), (x, status), 16, plan="smallsym", n=4, nrhs=2) is None
        if on_gpu:
            shoal.clear_cache()  # waits
        expected = shoal.solve_ex(A, b)
        np.testing.assert_array_equal(status, expected.status)
        np.testing.assert_allclose(x, expected.x, rtol=1e-12)
    assert plans == [(5, 0 if on_gpu else -1)] * (2 if on_gpu else 1)
    single = np.float32(b)
    x = np.empty_like(single)
    assert call(on_gpu, "smallsym_solve", (np.float32(A), single), (x,), 16, 0, plan="smallsym", n=4, nrhs=2, type=1) is None
    shoal.clear_cache()
    np.testing.assert_allclose(x, expected.x, rtol=1e-4)
    d, (dl, du, y) = rng.normal(size=(6, 9)) + 6, rng.normal(size=(3, 6, 9))
    x, status = np.empty_like(y), np.empty(6, np.int32)
    assert call(on_gpu, "tridiag_solve", (dl, d, du, y), (x, status), 9, plan="tridiag", n=9, nrhs=1) is None
    shoal.clear_cache()
    np.testing.assert_allclose(x, shoal.solve_tridiagonal(dl, d, du, y), rtol=1e-10)
    w, w0 = np.empty_like(y), np.ones(6)
    results, fields = ((w,), 0) if on_gpu else ((w, status), 1)  # the emulator's memset checks whose memory it is
    assert call(on_gpu, "recur_solve", (dl / 9, y, w0), results, 9, fields, plan="recur", n=9, order=1) is None
    shoal.clear_cache()
    np.testing.assert_allclose(w, shoal.recurrence(dl / 9, y, w0), rtol=1e-10)
    V, w, status = np.empty((5, 4, 4)), np.empty((5, 4)), np.empty(5, np.int32)
    A[3] = A[2]
    assert call(on_gpu, "smallsym_eig", (A,), (w, V, status), 16, plan="smallsym", n=4, nrhs=1, method="eigdc") is None
    shoal.clear_cache()
    np.testing.assert_allclose(w, shoal.eigh(A).eigenvalues, rtol=1e-12)
    keys, index = np.empty_like(y), np.empty(y.shape, np.int32)
    assert call(on_gpu, "sort_index", (y,), (keys, index), 9, 0, plan="sort", n=9, key=5, value_bytes=4, index=1) is None
    shoal.clear_cache()
    np.testing.assert_array_equal(keys, np.sort(y))
    np.testing.assert_array_equal(index, np.argsort(y))


def test_plans_are_kept_and_given_up(plans):
    for _ in range(2):
        for count in range(1, 81):  # more than are kept
            A, b = systems(count, 1)
            x, status = np.empty_like(b), np.empty(count, np.int32)
            assert call(False, "smallsym_solve", (A, b), (x, status), 1, plan="smallsym", n=1, nrhs=2) is None
            np.testing.assert_allclose(x, b / A)
    assert 80 < len(plans) <= 160


def test_wrong_calls_return_errors(monkeypatch):
    A, b = systems(2)
    x, status = np.empty_like(b), np.empty(2, np.int32)
    good = {"plan": "smallsym", "n": 4, "nrhs": 2}
    arrays = (A, b), (x, status), 16
    assert "unknown" in call(False, "nosuch", *arrays, **good)
    assert "unknown" in call(False, "smallsym_solve", (), (x,), 16, **good)
    assert "ValueError: refine is -1" in call(False, "smallsym_solve", *arrays, **good, refine=-1)
    assert "not allowed" in call(False, "smallsym_solve", (A,), (x,), 16, **good)
    assert "not allowed" in call(False, "tridiag_solve", *arrays, **good)
    assert "update" in call(True, "smallsym_solve", *arrays, api_size=100, **good)
    if not EMULATED and shoal.info()["backend"] != "cuda":
        assert "RuntimeError" in call(True, "smallsym_solve", *arrays, **good)
    assert call(False, "smallsym_solve", *arrays, **good) is None


def test_the_version_of_the_interface_is_told():
    metadata = Metadata(ctypes.sizeof(Metadata))
    extension = MetadataExtension(Extension(ctypes.sizeof(MetadataExtension), 1, None), ctypes.pointer(metadata))
    frame = Frame(ctypes.sizeof(Frame), ctypes.addressof(extension))
    for on_gpu in (False, True):
        metadata.version.minor = 99
        assert not handler(on_gpu)(frame)
        assert (metadata.version.major, metadata.version.minor) == (0, 1)
