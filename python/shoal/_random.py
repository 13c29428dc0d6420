# SPDX-License-Identifier: Apache-2.0
"""Random numbers by address."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._arrays import TYPES
from ._devices import device_number, dtype_name, library_for, real, whole
from ._linalg import _size
from ._runtime import Kind, plan

_RNG = Kind(
    _core.rng, "method", "variant", "type", "seed", "step", "purpose", "draw", "alpha", "lambda", "df", "dimensions"
)


class Generator:
    """Random numbers by address: number `path` of stream `step` of a seed is the same on every device, for any number of
    threads, however the calls are cut.

    A call takes the next numbers of the stream. `at` returns a generator at any place of it, or at another step.
    purpose and draw select other streams of the seed.

    >>> import shoal
    >>> g = shoal.Generator(42)
    >>> z = g.normal(5)
    >>> bool((shoal.Generator(42).at(path=3).normal(2) == z[3:]).all())
    True
    """

    def __init__(self, seed: int = 0, *, step: int = 0, purpose: int = 0, draw: int = 0, path: int = 0) -> None:
        for name, value, end in (("seed", seed, 2**64), ("step", step, 2**32), ("purpose", purpose, 128),
                                 ("draw", draw, 256), ("path", path, 2**64)):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < end:
                raise ValueError(f"{name} is {value!r}; it must be a whole number from 0 to {end - 1}")
        self.seed, self.step, self.purpose, self.draw = int(seed), int(step), int(purpose), int(draw)
        self.path = int(path)

    def at(self, path: int = 0, step: int | None = None) -> Generator:
        """A generator of the same seed whose next number is number `path` of stream `step` (default: this one's).

        >>> import shoal
        >>> shoal.Generator(1).at(100, step=2)
        <shoal.Generator: seed 1, step 2, path 100>
        """
        return Generator(
            self.seed, step=self.step if step is None else step, purpose=self.purpose, draw=self.draw, path=path
        )

    def _fill(
        self, method: str, shape: Any, dtype: Any, device: Any, *parameters: Any, variant: Any = None, points: int = 0
    ) -> Any:
        given = shape
        try:
            shape = tuple(operator.index(v) for v in (shape if isinstance(shape, Iterable) else (shape,)))
        except TypeError:
            raise TypeError(f"shape is {given!r}; it must be a whole number or a tuple of whole numbers") from None
        if any(v < 0 for v in shape):
            raise ValueError(f"shape is {given!r}; no dimension can be negative")
        whole = method in ("words", "poisson")
        kind, number = "uint32" if whole else dtype_name(dtype), device_number(device)
        library = library_for(dtype, number)
        alpha, lam, df = (*parameters, 0.0, 0.0, 0.0)[:3]
        stream = (0, 0, 0) if points else (self.step, self.purpose, self.draw)
        where = library.stream(number)
        try:
            work = plan(_RNG, number, where, method, variant, TYPES.get(kind, 0), self.seed, *stream, alpha, lam, df,
                        points)  # fmt: skip
        except ValueError as error:  # the library's word for it is lambda
            name = "mean" if method == "poisson" else "noncentrality"
            raise ValueError(str(error).replace("lambda is", f"{name} is")) from None
        out = library.empty((*shape, points) if points else shape, kind, number)
        count = _size(shape)
        fill = _core.rng_fillu if whole else _core.rng_fill
        fill(work, where, 0, 0, self.path, count, library.pointer(out))
        self.path += count
        return out

    def normal(self, shape: Any, dtype: Any = "float64", device: Any = "cpu") -> Any:
        """Standard normal numbers.

        >>> import shoal
        >>> shoal.Generator(42).normal((2, 3)).shape
        (2, 3)
        """
        return self._fill("normal", shape, dtype, device)

    def uniform(self, shape: Any, dtype: Any = "float64", device: Any = "cpu") -> Any:
        """Uniform numbers of the open interval (0, 1).

        >>> import shoal
        >>> u = shoal.Generator(42).uniform(1000)
        >>> bool(0 < u.min() and u.max() < 1)
        True
        """
        return self._fill("uniform", shape, dtype, device)

    def gamma(self, alpha: float, shape: Any, dtype: Any = "float64", device: Any = "cpu") -> Any:
        """Gamma numbers of shape alpha and scale 1.

        >>> import shoal
        >>> bool(shoal.Generator(42).gamma(2.0, 1000).min() > 0)
        True
        """
        return self._fill("gamma", shape, dtype, device, real("alpha", alpha))

    def poisson(self, mean: float, shape: Any, device: Any = "cpu") -> Any:
        """Poisson counts, as uint32.

        >>> import shoal
        >>> shoal.Generator(42).poisson(3.0, 4).dtype
        dtype('uint32')
        """
        return self._fill("poisson", shape, None, device, 0.0, real("mean", mean))

    def ncchisq(self, df: float, noncentrality: float, shape: Any, dtype: Any = "float64", device: Any = "cpu") -> Any:
        """Noncentral chi-squared numbers.

        >>> import shoal
        >>> bool(shoal.Generator(42).ncchisq(3.0, 1.0, 1000).min() > 0)
        True
        """
        return self._fill("ncchisq", shape, dtype, device, 0.0, real("noncentrality", noncentrality), real("df", df))

    def words(self, shape: Any, device: Any = "cpu") -> Any:
        """Random bits, as uint32: Philox4x32-10.

        >>> import shoal
        >>> shoal.Generator(42).words(4).dtype
        dtype('uint32')
        """
        return self._fill("words", shape, None, device)

    def sobol(self, count: int, dimensions: int, dtype: Any = "float64", device: Any = "cpu") -> Any:
        """The next `count` points of a scrambled Sobol sequence, (count, dimensions).

        >>> import shoal
        >>> shoal.Generator(42).sobol(8, 3).shape
        (8, 3)
        """
        return self._fill("sobol", count, dtype, device, points=whole("dimensions", dimensions))

    def __repr__(self) -> str:
        return f"<shoal.Generator: seed {self.seed}, step {self.step}, path {self.path}>"
