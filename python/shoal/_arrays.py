# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries: which library, which device, which type; broadcasting; new arrays like them.

Work is done on arrays of numpy, torch or CuPy. Arrays of any other library are taken without a copy by DLPack, and
results go back the same way.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence

import numpy as np

from . import _core

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
TYPES = {"float64": 0, "float32": 1}
WHOLE = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
_names: dict[Any, str] = {}  # numpy and torch take microseconds to tell the name of a type
READY = 0x101  # numpy's flags: C contiguous, aligned


class ComplexError(TypeError):
    """A function for real numbers was given complex ones."""


def bad_type(name: str, dtype: str) -> TypeError:
    if dtype.startswith("complex"):
        advice = "this function computes with real numbers; a complex system of n unknowns is a real one of 2n"
        return ComplexError(f"{name}: {dtype} numbers are not supported; {advice}")
    if dtype == "object":
        advice = "convert it to numbers, for example by numpy.asarray(values, dtype=float)"
    elif dtype in ("float16", "bfloat16") or dtype.startswith("float8"):
        advice = "convert it to float32"
    else:
        advice = "convert it to float64 or float32"
    return TypeError(f"{name}: {dtype} numbers are not supported; {advice}")


class Numpy:
    name = "numpy"

    @staticmethod
    def device(a: Any) -> int:
        return -1

    @staticmethod
    def dtype(a: Any) -> str:
        dtype = a.dtype
        name = _names.get(dtype)
        if name is None:
            name = _names[dtype] = dtype.name if dtype.isnative else "byte-swapped"
        return name

    @staticmethod
    def convert(a: Any, dtype: str, shape: Sequence[int] | None = None) -> Any:
        a = a.astype(dtype, copy=False)
        if shape is not None and a.shape != tuple(shape):
            a = np.broadcast_to(a, shape)
        return np.require(a, requirements=["C", "A"])

    @staticmethod
    def empty(shape: Any, dtype: str, device: int) -> Any:
        return np.empty(shape, dtype)

    @staticmethod
    def pointer(a: Any) -> Any:
        return a

    @staticmethod
    def is_ready(a: Any) -> bool:
        return bool(a.flags.num & READY == READY)

    @staticmethod
    def is_writeable(a: Any) -> bool:
        return bool(a.flags.writeable)

    @staticmethod
    def address(a: Any) -> int:
        return int(a.__array_interface__["data"][0])

    @staticmethod
    def overlap(a: Any, b: Any) -> bool:
        return bool(np.may_share_memory(a, b))

    @staticmethod
    def stream(device: int) -> int:
        return 0

    @staticmethod
    def view(a: Any, dtype: str) -> Any:
        return a.view(dtype)

    @staticmethod
    def host(a: Any) -> Any:
        return a


class Cupy(Numpy):
    name = "cupy"

    @staticmethod
    def describe(a: Any) -> Any:
        """(address, is it float64, device, stream, shape) of an array that can be used in place; else None."""
        cuda = sys.modules["cupy"].cuda
        device, dtype = a.data.device_id, a.dtype
        if (dtype is not F64 and dtype is not F32) or not a.flags.c_contiguous or cuda.runtime.getDevice() != device:
            return None
        return a.data.ptr, dtype is F64, device, cuda.get_current_stream().ptr + 1, a.shape

    @staticmethod
    def is_capturing() -> bool:
        cuda = sys.modules["cupy"].cuda
        return bool(cuda.runtime.streamIsCapturing(cuda.get_current_stream().ptr))

    @staticmethod
    def device(a: Any) -> int:
        return int(a.data.device_id)

    @staticmethod
    def convert(a: Any, dtype: str, shape: Sequence[int] | None = None) -> Any:
        import cupy

        a = a.astype(dtype, copy=False)
        if shape is not None and a.shape != tuple(shape):
            a = cupy.broadcast_to(a, shape)
        return cupy.ascontiguousarray(a)

    @staticmethod
    def empty(shape: Any, dtype: str, device: int) -> Any:
        import cupy

        with cupy.cuda.Device(device):
            return cupy.empty(shape, dtype)

    @staticmethod
    def pointer(a: Any) -> Any:
        return a.data.ptr

    address = pointer

    @staticmethod
    def overlap(a: Any, b: Any) -> bool:
        here, there = a.data.ptr, b.data.ptr
        return bool(here < there + b.nbytes and there < here + a.nbytes)

    @staticmethod
    def is_ready(a: Any) -> bool:
        return bool(a.flags.c_contiguous)

    @staticmethod
    def is_writeable(a: Any) -> bool:
        return True

    @staticmethod
    def stream(device: int) -> int:
        import cupy

        return int(cupy.cuda.get_current_stream(device).ptr) + 1

    @staticmethod
    def host(a: Any) -> Any:
        return a.get()


class Torch(Numpy):
    name = "torch"
    module: Any = None  # an import statement takes as long as some of these functions
    float64: Any
    float32: Any
    is_compiling: Any = staticmethod(lambda: False)

    @classmethod
    def bind(cls, module: Any) -> None:
        cls.float64, cls.float32 = module.float64, module.float32
        cls.is_compiling = staticmethod(module.compiler.is_compiling)
        if cls.module is None:
            cls.module = module
            exchange = getattr(module.Tensor, "__dlpack_c_exchange_api__", None)
            capturing = module.cuda.is_current_stream_capturing
            _core.read_arrays(
                module.Tensor, exchange, cls.describe, cls.pointer, module.empty_like, cls.empty, capturing
            )
        raw = getattr(module._C, "_cuda_getCurrentRawStream", None)  # a tenth of the time of current_stream()
        cls.raw_stream = staticmethod(  # type: ignore[method-assign]
            raw or (lambda device: module.cuda.current_stream(device).cuda_stream)
        )

    @staticmethod
    def raw_stream(device: int) -> int:
        import torch

        Torch.bind(torch)
        return int(Torch.raw_stream(device))

    @classmethod
    def describe(cls, a: Any) -> Any:
        """As Cupy.describe, for a torch without DLPack's exchange interface."""
        dtype, device = a.dtype, a.get_device()
        if (dtype is not cls.float64 and dtype is not cls.float32) or not a.is_contiguous():
            return None
        if device < 0 and not a.is_cpu:
            return None
        return a.data_ptr(), dtype is cls.float64, device, cls.raw_stream(device) + 1 if device >= 0 else 0, a.shape

    @staticmethod
    def device(a: Any) -> int:
        kind = a.device.type
        if kind == "cuda":
            return int(a.device.index)
        if kind == "cpu":
            return -1
        raise TypeError(f"a tensor on device '{a.device}': Shoal computes on 'cpu' and 'cuda'; move it by .to()")

    @staticmethod
    def dtype(a: Any) -> str:
        dtype = a.dtype
        name = _names.get(dtype)
        if name is None:
            name = _names[dtype] = str(dtype)[6:]
        return name

    @staticmethod
    def convert(a: Any, dtype: str, shape: Sequence[int] | None = None) -> Any:
        import torch

        a = a.to(getattr(torch, dtype)).resolve_conj().resolve_neg()
        return (a if shape is None or a.shape == shape else a.expand(*shape)).contiguous()

    @staticmethod
    def empty(shape: Any, dtype: str, device: int) -> Any:
        import torch

        where = "cpu" if device < 0 else f"cuda:{device}"
        return torch.empty(shape, dtype=getattr(torch, dtype), device=where)

    @staticmethod
    def pointer(a: Any) -> Any:
        return a.data_ptr()

    address = pointer

    @staticmethod
    def is_ready(a: Any) -> bool:
        return bool(a.is_contiguous())

    @staticmethod
    def is_writeable(a: Any) -> bool:
        return True

    @staticmethod
    def overlap(a: Any, b: Any) -> bool:
        here, there = a.data_ptr(), b.data_ptr()
        return bool(here < there + b.nbytes and there < here + a.nbytes)

    @staticmethod
    def stream(device: int) -> int:
        if device < 0:
            return 0
        return int(Torch.raw_stream(device)) + 1

    @staticmethod
    def view(a: Any, dtype: str) -> Any:
        import torch

        return a.view(getattr(torch, dtype))

    @staticmethod
    def host(a: Any) -> Any:
        return a.detach().cpu().numpy()


class Door:
    """How arrays of one Python type come in, and how results go back."""

    __slots__ = ("library", "take", "give")

    def __init__(self, library: Any, take: Callable[..., Any], give: Callable[..., Any]) -> None:
        self.library, self.take, self.give = library, take, give


def _same(a: Any, name: str = "") -> Any:
    return a


def _to_numpy(a: Any, name: str = "") -> Any:
    if isinstance(a, np.ma.MaskedArray) and np.ma.is_masked(a):
        raise TypeError(f"{name} is a masked array: fill it by .filled(), or omit what is masked")
    try:
        return np.asarray(a)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name}: not an array of numbers: {error}") from None


def _detached(a: Any, name: str = "") -> Any:
    torch = Torch.module
    if a.layout is not torch.strided:
        raise TypeError(f"{name} is a sparse tensor: make it dense by .to_dense()")
    if not a.requires_grad:
        return a
    if torch.is_grad_enabled():
        raise TypeError(
            f"{name} requires a gradient, and this function has none: pass {name}.detach(), or call it under "
            "torch.no_grad()"
        )
    return a.detach()


def _on_gpu() -> Any:
    """The library that holds arrays of a GPU for others: one that is loaded, else one that is installed."""
    for module, library in (("torch", Torch), ("cupy", Cupy)):
        if module in sys.modules:
            return library
    for module, library in (("cupy", Cupy), ("torch", Torch)):
        try:
            __import__(module)
            return library
        except ImportError:
            pass
    raise RuntimeError("arrays on a GPU need torch or CuPy beside Shoal: install one of them")


def _from_dlpack(library: Any, a: Any) -> Any:
    if library is Numpy:
        return np.from_dlpack(a)
    module = __import__(library.name)
    if hasattr(a, "__dlpack__"):
        return module.from_dlpack(a)
    return module.asarray(a) if library is Cupy else module.as_tensor(a, device="cuda")


def _jax_back(a: Any) -> Any:
    import jax

    return jax.numpy.asarray(a) if isinstance(a, np.ndarray) else jax.dlpack.from_dlpack(a)


NUMPY = Door(Numpy, _same, _same)
_LIST = Door(Numpy, _to_numpy, _same)
_doors: dict[type, Door] = {np.ndarray: NUMPY, list: _LIST, tuple: _LIST, float: _LIST, int: _LIST}
_core.read_arrays(np.ndarray, None, None, None, np.empty_like, Numpy.empty, None)


def door_of(value: Any, name: str) -> Door:
    kind = type(value)
    found = _doors.get(kind)
    if found is not None:
        return found
    root = kind.__module__.partition(".")[0]
    if "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor):
        Torch.bind(sys.modules["torch"])
        found = _doors[kind] = Door(Torch, _detached, _same)
    elif root == "cupy":
        found = _doors[kind] = Door(Cupy, _same, _same)
        if kind is sys.modules["cupy"].ndarray:
            like = sys.modules["cupy"].empty_like
            _core.read_arrays(kind, None, Cupy.describe, Cupy.pointer, like, Cupy.empty, Cupy.is_capturing)
    elif "jax" in sys.modules and isinstance(value, sys.modules["jax"].Array):
        if value.devices().copy().pop().platform == "cpu":
            return Door(Numpy, _to_numpy, _jax_back)
        library = _on_gpu()
        return Door(library, lambda a, name: _from_dlpack(library, a), _jax_back)
    elif hasattr(kind, "__cuda_array_interface__") or (
        hasattr(kind, "__dlpack_device__") and value.__dlpack_device__()[0] in (2, 13)
    ):
        library = _on_gpu()
        back = _same
        if hasattr(value, "__array_namespace__"):
            back = value.__array_namespace__().from_dlpack
        return Door(library, lambda a, name: _from_dlpack(library, a), back)
    elif hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__"):
        back = _same
        if hasattr(value, "__array_namespace__"):
            back = value.__array_namespace__().from_dlpack
        return Door(Numpy, lambda a, name: _from_dlpack(Numpy, a), back)
    elif value is None:
        raise TypeError(f"{name} is None; it must be an array")
    else:
        return _LIST  # numpy's scalars and subclasses, pandas, polars, anything that numpy understands
    return found


def takes(names: Sequence[str], values: Sequence[Any]) -> tuple[Door, int, list[Any]]:
    """The door, the device and the arrays in the library that works on them; all in one library, on one device."""
    doors = [door_of(value, name) for name, value in zip(names, values)]
    door = doors[0]
    arrays = [d.take(value, name) for d, name, value in zip(doors, names, values)]
    for d, name in zip(doors, names):
        if d.library is not door.library:
            raise TypeError(
                f"{names[0]} is an array of {door.library.name}, {name} of {d.library.name}: convert one of them"
            )
    device = door.library.device(arrays[0])
    for a, name in zip(arrays, names):
        if door.library.device(a) != device:
            where = ["the CPU" if k < 0 else f"CUDA device {k}" for k in (device, door.library.device(a))]
            raise ValueError(f"{names[0]} is on {where[0]}, {name} on {where[1]}: move one of them")
    return door, device, arrays


def common_type(library: Any, names: Sequence[str], arrays: Sequence[Any]) -> str:
    """float32 if all are; else float64. Whole numbers count as float64."""
    single = True
    for name, a in zip(names, arrays):
        dtype = library.dtype(a)
        if dtype == "float64" or dtype in WHOLE:
            single = False
        elif dtype != "float32":
            raise bad_type(name, dtype)
    return "float32" if single else "float64"


def batch_of(names: Sequence[str], shapes: Sequence[Any], cores: Sequence[int]) -> tuple[int, ...]:
    """What the leading dimensions broadcast to; `cores` are the numbers of dimensions that belong to one system."""
    for name, shape, core in zip(names, shapes, cores):
        if len(shape) < core:
            raise ValueError(f"{name} has {len(shape)} dimensions; it must have at least {core}")
    try:
        return np.broadcast_shapes(*(tuple(shape[: len(shape) - core]) for shape, core in zip(shapes, cores)))
    except ValueError:
        seen = ", ".join(f"{name} {tuple(shape)}" for name, shape in zip(names, shapes))
        raise ValueError(f"the leading dimensions do not broadcast: {seen}") from None


def prepare(
    names: Sequence[str], values: Sequence[Any], cores: Sequence[int]
) -> tuple[Door, int, str, tuple[int, ...], Sequence[Any]]:
    """(door, device, type, batch, arrays): the leading dimensions broadcast, one type, contiguous.

    `cores` are the numbers of dimensions that belong to one system. An array that is already so is used in place.
    """
    if type(values[0]) is np.ndarray:
        first = values[0]
        dtype = first.dtype
        if dtype is F64 or dtype is F32:
            batch = first.shape[: first.ndim - cores[0]]
            for a, core in zip(values, cores):
                if (
                    type(a) is not np.ndarray
                    or a.dtype is not dtype
                    or a.ndim < core
                    or a.shape[: a.ndim - core] != batch
                    or a.flags.num & READY != READY
                ):
                    break
            else:
                return NUMPY, -1, "float64" if dtype is F64 else "float32", batch, values
    door, device, arrays = takes(names, values)
    library = door.library
    kind = common_type(library, names, arrays)
    batch = batch_of(names, [a.shape for a in arrays], cores)
    arrays = [
        library.convert(a, kind, batch + tuple(a.shape[a.ndim - core :])) for a, core in zip(arrays, cores)
    ]
    return door, device, kind, batch, arrays


def check_out(door: Door, device: int, out: Any, shape: tuple[int, ...], kind: str) -> None:
    """`out` is an array to write to."""
    library = door.library
    if not hasattr(out, "shape") or door_of(out, "out").library is not library:
        raise TypeError(f"out is a {type(out).__name__}; it must be an array of {library.name}, as the other arguments are")
    if library.device(out) != device:
        raise ValueError("out is on another device than the other arguments: allocate it there")
    if tuple(out.shape) != shape:
        raise ValueError(f"out has shape {tuple(out.shape)}; it must be {shape}")
    if library.dtype(out) != kind:
        raise TypeError(f"out has {library.dtype(out)} numbers; it must have {kind}")
    if not library.is_ready(out):
        raise ValueError("out is not C-contiguous: make it by numpy.empty() or the like, not as a slice")


def check_overlap(library: Any, out: Any, inputs: Sequence[Any], names: Sequence[str], allowed: int) -> None:
    """`out` can be written to, and overlaps no input; it may be that very array for the input of number `allowed`."""
    if not library.is_writeable(out):
        raise ValueError("out is read-only: pass an array that can be written to")
    for i, a in enumerate(inputs):
        if a is not out or i != allowed:
            if library.overlap(out, a) and not (i == allowed and library.address(a) == library.address(out)):
                more = f", or {names[i]} itself" if i == allowed else ""
                raise ValueError(f"out overlaps {names[i]}: pass an array of its own{more}")
