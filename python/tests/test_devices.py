# SPDX-License-Identifier: Apache-2.0
"""Several devices in one process, and sums over paths in place of rows. Contexts of the CPU; GPUs where they answer: CTest
runs it over two GPUs of the emulator, too."""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import shoal
from shoal import _units

gpu = pytest.mark.skipif(shoal.info()["backend"] != "cuda", reason=f"GPU: {shoal.info()['gpu']}")
MARKET = {"asset": ["ALFA"], "spot": [100.0], "volatility": [0.2]}
BOOK = [{"payoff": "call", "assets": "ALFA", "strike": 100, "maturity": 1, "counterparty": "P"},
        {"payoff": "forward", "assets": "ALFA", "strike": 95, "maturity": 1, "counterparty": "Q"}]  # fmt: skip
RANGES = {"maturity": (0.05, 0.1)}


def of_cva(**how):
    r = shoal.cva(BOOK, MARKET, rate=0.03, dates=2, outer=60, breakdown=True, **how)
    return [r.cva, r.stderr, r.profile["epe"], r.profile["pfe99"], r.by_set["cva"], r.by_trade["cva"]]


def of_price(**how):
    r = shoal.price.heston([0.9, 1.1], 1.0, method="euler", steps=1, paths=140_000, **how)
    return [r.price, r.stderr, np.array(r.paths)]


def of_american(**how):
    r = shoal.price.american(95.0, 1.0, dates=2, paths=70_000, fit_paths=512, **how)
    return [r.price, r.stderr]


def of_dataset(**how):
    r = shoal.dataset(6, ranges=RANGES, target=1e-2, most_paths=1024, **how)
    return [r["price"], r["stderr"]]


def same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("call", [of_cva, of_price, of_american, of_dataset])
def test_two_contexts_of_the_cpu(call, tmp_path):
    whole = call()
    same(call(devices=["cpu"]), whole)
    same(call(devices=["cpu", "cpu"], units=5), whole)
    same(call(devices=["cpu", -1], units=5, checkpoint=tmp_path / "kept"), whole)
    assert len(list((tmp_path / "kept").glob("unit-*"))) == 5


@gpu
@pytest.mark.parametrize("call", [of_cva, of_price])
def test_gpus(call):
    whole = call(device="cuda")
    for devices in ([0], ["cuda:0", 0], "all"):
        same(call(devices=devices, units=3), whole)


@gpu
def test_a_gpu_that_is_not_there():
    with pytest.raises(RuntimeError, match="device"):
        of_price(devices=[0, 77])


@gpu
def test_a_gpu_without_memory(caplog, monkeypatch):
    if "emulator" not in shoal.info()["device"]:
        pytest.skip("a real GPU")
    whole = of_price(devices=[0])
    with caplog.at_level(logging.WARNING, "shoal"):
        monkeypatch.setenv("SIMT_MEMORY", "67108864,4096")
        same(of_price(devices=[0, 1], units=3), whole)
        assert "bytes of device memory: out of memory" in caplog.text
        caplog.clear()
        monkeypatch.setenv("SIMT_MEMORY", "67108864,64")
        same(of_price(devices="all", units=3), whole)
        assert "GPU 1 takes no units: the GPU gives no memory" in caplog.text
    with pytest.raises(MemoryError, match="the GPU gives no memory"):
        of_price(devices=[0, 1])


def test_no_gpu():
    if shoal.info()["backend"] == "cuda":
        pytest.skip("a GPU answers")
    for devices in ("all", [0]):
        with pytest.raises(RuntimeError):
            of_price(devices=devices)


def test_what_devices_are_told():
    for devices, error, words in (
        ([], ValueError, r"devices is \[\]; it must name GPUs"),
        ([0, "cpu"], ValueError, "only 'cpu'"),
        ([-2], ValueError, "it must name GPUs"),
        (["gpu"], ValueError, "device is 'gpu'; it must be"),
        ([1.5], TypeError, "devices is 1.5; it must be a whole number"),
        ("cuda", TypeError, "devices is 'cuda'; it must be 'all' or a list"),
        (2, TypeError, "devices is 2; it must be 'all' or a list"),
    ):
        with pytest.raises(error, match=words):
            of_price(devices=devices)
    with pytest.raises(ValueError, match="device and devices exclude each other"):
        of_price(devices=["cpu"], device="cuda")
    with pytest.raises(ValueError, match="executor and devices exclude each other"):
        with ThreadPoolExecutor(1) as executor:
            of_price(devices=["cpu"], executor=executor)
    for call in (lambda: shoal.price.heston(method="analytic", devices=["cpu"]), lambda: shoal.price.american(devices=["cpu"])):
        with pytest.raises(ValueError, match="simulates no paths: omit devices"):
            call()


# ---- sums ---------------------------------------------------------------------------------------------


def test_sums_in_place_of_rows(tmp_path):
    book = [{**row, "counterparty": "P"} for row in BOOK]
    terms = {"rate": 0.03, "dates": 3, "outer": 500, "breakdown": True, "own_hazard": 0.02}
    exact = shoal.cva(book, MARKET, **terms)
    for error in (0.1, 0.001):
        r = shoal.cva(book, MARKET, quantile_error=error, **terms)
        for name in ("cva", "stderr", "dva", "fva"):
            np.testing.assert_allclose(getattr(r, name), getattr(exact, name), rtol=1e-12)
        for name in ("epe", "epe_error", "cva"):
            np.testing.assert_allclose(r.profile[name], exact.profile[name], rtol=1e-12)
        for name in ("pfe95", "pfe99", "es95", "es99"):
            np.testing.assert_allclose(r.profile[name], exact.profile[name], rtol=error)
        np.testing.assert_allclose(r.by_set["cva"], exact.by_set["cva"], rtol=1e-12)
        same([r.by_trade["cva"], r.by_trade["epe"]], [exact.by_trade["cva"], exact.by_trade["epe"]])
    for how in ({"units": 3}, {"units": 7, "checkpoint": tmp_path / "kept"}, {"devices": ["cpu", "cpu"], "units": 5}):
        other = shoal.cva(book, MARKET, quantile_error=error, **terms, **how)
        same([other.cva, *other.profile.values(), other.by_set["es99"]], [r.cva, *r.profile.values(), r.by_set["es99"]])
    with pytest.raises(ValueError, match="quantile_error is 1; it must be"):
        shoal.cva(book, MARKET, quantile_error=1, **terms)
    with pytest.raises(ValueError, match="must be 0 with validate"):
        shoal.cva(book, MARKET, quantile_error=0.1, validate=True, **terms)


def test_a_lost_device_is_told(caplog, monkeypatch):
    monkeypatch.setattr(shoal._core, "units_work", lambda workers: [(0, "launch failed")])
    with caplog.at_level(logging.WARNING, "shoal"):
        _units._work([None], None, None)
    assert "the others do its units: launch failed" in caplog.text
