# SPDX-License-Identifier: Apache-2.0
"""torch: the same library comes back, gradients, torch.compile. Skipped where torch is not installed."""

import sys
from subprocess import run

import numpy as np
import pytest

import shoal

torch = pytest.importorskip("torch")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() and shoal.info()["backend"] == "cuda" else [])
pytestmark = pytest.mark.parametrize("device", DEVICES)


def symmetric(shape, device, seed=0):
    g = torch.Generator().manual_seed(seed)
    A = torch.randn(*shape, dtype=torch.float64, generator=g)
    return (A + A.mT + 2 * shape[-1] * torch.eye(shape[-1], dtype=torch.float64)).to(device)


def draw(*shape, device, seed=1, dtype=torch.float64):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(device, dtype)


def test_results_are_tensors_on_the_same_device(device):
    A, b = symmetric((5, 4, 4), device).float(), draw(5, 4, 2, device=device, dtype=torch.float32)
    r = shoal.solve_ex(A, b)
    for v in (r.x, r.status, r.residual, r.rcond, r.method, r.ok):
        assert isinstance(v, torch.Tensor) and v.device == A.device
    assert r.x.dtype == torch.float32
    assert torch.allclose(A @ r.x, b, atol=1e-4)
    assert torch.equal(shoal.sort(b.mT)[0], torch.sort(b.mT, -1).values[0])


def test_arrays_of_equal_shapes_stay_in_their_library(device):
    A, b = symmetric((5, 4, 4), device), draw(5, 4, 2, device=device)
    bands = [draw(5, 4, device=device, seed=s) + (6 if s == 4 else 0) for s in (3, 4, 5, 6)]
    for _ in range(3):  # the second calls are found by their shapes
        for call, given in ((shoal.solve, (A, b)), (shoal.solve_tridiagonal, bands)):
            x, there = call(*(a.cpu().numpy() for a in given)), call(*given)
            assert isinstance(x, np.ndarray) and isinstance(there, torch.Tensor) and there.device == A.device
            np.testing.assert_allclose(there.cpu(), x, atol=1e-12)
            single = call(*(a.float() for a in given))
            assert single.dtype == torch.float32 and torch.allclose(single, there.float(), atol=1e-5)
    expected = shoal.solve(A, b)
    for a, y in ((A.mT, b), (A.flip(0).flip(0), b), (A, b.mT.contiguous().mT), (A[:1].expand(5, 4, 4), b)):
        x = shoal.solve(a, y)
        assert torch.allclose(a @ x, y) and (a is A[:1] or x.shape == expected.shape)


def test_a_call_like_a_recent_one_keeps_its_gradient(device):
    A, b = torch.eye(3, device=device, dtype=torch.float64)[None] * 2, torch.ones(1, 3, 1, device=device).double()
    for _ in range(3):
        assert not shoal.solve(A, b).requires_grad
    assert shoal.status_text(shoal.solve_ex(A, b).status[0]) == shoal.status_text(0)
    b.requires_grad_()
    shoal.solve(A, b).sum().backward()
    assert b.grad.flatten().tolist() == [0.5] * 3
    with torch.no_grad():
        assert torch.equal(shoal.solve(A, b), b.detach() / 2)


def test_a_plan_solves_in_place_and_checks_out(device):
    dl, du, b = (draw(10, 6, device=device, seed=s) for s in (1, 2, 3))
    d = 6 + draw(10, 6, device=device, seed=4)
    expected = shoal.solve_tridiagonal(dl, d, du, b)
    plan = shoal.TridiagonalPlan(6, 10, device=device)
    out = torch.empty_like(b)
    for _ in range(2):
        assert plan.solve(dl, d, du, b, out=out) is out and torch.equal(out, expected)
        assert torch.equal(plan.solve(dl, d, du, b), expected)
    room = torch.empty(21, 6, dtype=torch.float64, device=device)
    room[11:] = b
    for bad, words in ((d, "out overlaps d:"), (room[10:20], "out overlaps b:"), (out[:5], r"shape \(5, 6\)"),
                       (out.float(), "float32"), (draw(6, 10, device=device).mT, "contiguous")):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=words):
            plan.solve(dl, d, du, room[11:], out=bad)
    assert plan.solve(dl, d, du, b, out=b) is b and torch.equal(b, expected)
    with pytest.raises(TypeError, match="array of torch"):
        plan.solve(dl, d, du, b, out=np.empty((10, 6)))


def test_calls_are_captured_in_a_cuda_graph(device):
    if device == "cpu":
        pytest.skip("a graph needs a GPU")
    A, b = symmetric((5, 4, 4), device), draw(5, 4, 2, device=device)
    bands = [draw(5, 4, device=device, seed=s) + (6 if s == 4 else 0) for s in (3, 4, 5, 6)]
    plan, out = shoal.TridiagonalPlan(4, 5, device=device), torch.empty_like(bands[0])
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            shoal.solve_ex(A, b), plan.solve(*bands, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        r = shoal.solve_ex(A, b)
        plan.solve(*bands, out=out)
    b.mul_(2), bands[3].mul_(2)
    before = shoal.solve_ex(A, b)  # its outcomes are not those of the graph
    A[2, 0, 0] = float("nan")
    graph.replay()
    torch.cuda.synchronize()
    assert r.failed.tolist() == [False, False, True, False, False] and before.ok.all()
    keep = [0, 1, 3, 4]
    assert torch.allclose(r.x[keep], before.x[keep]) and torch.allclose(out, shoal.solve_tridiagonal(*bands))


def test_streams_do_not_share_a_plan(device):
    if device == "cpu":
        pytest.skip("the CPU has no streams")
    A, b = symmetric((20000, 8, 8), device), draw(20000, 8, 1, device=device)
    A[::3, 0, 0] = 0  # systems that are done again, by lists in the plan's memory
    expected = [shoal.solve_ex(s * A, b) for s in (1, -1)]
    streams = [torch.cuda.Stream() for _ in expected]
    torch.cuda.synchronize()
    for _ in range(20):
        found = []
        for s, stream in zip((1, -1), streams):
            with torch.cuda.stream(stream):
                found.append(shoal.solve_ex(s * A, b))
        torch.cuda.synchronize()
        for r, e in zip(found, expected):
            assert torch.equal(r.x, e.x) and torch.equal(r.status, e.status)


def test_a_tensor_and_an_array_of_numpy_are_refused_together(device):
    with pytest.raises(TypeError, match="torch.*numpy|numpy.*torch"):
        shoal.solve(symmetric((4, 4), device), np.ones(4))


def test_half_precision_says_what_to_convert_to(device):
    for dtype in (torch.float16, torch.bfloat16):
        with pytest.raises(TypeError, match="float32"):
            shoal.solve(symmetric((4, 4), device).to(dtype), torch.ones(4, dtype=dtype, device=device))


def test_functions_with_gradients_check_their_arguments(device):
    A, b = symmetric((2, 3, 3), device).requires_grad_(), draw(2, 3, 1, device=device)
    for dtype in (torch.float16, torch.bfloat16, torch.complex128):
        for given in ((A.detach().to(dtype).requires_grad_(), b), (A, b.to(dtype))):
            with pytest.raises(TypeError, match=str(dtype)[6:]):
                shoal.solve(*given)
    for given, error, words in (
        ((A, b.cpu().numpy()), TypeError, "b is no tensor of torch"),
        ((A[0, 0, 0], b), ValueError, r"A has shape \(\)"),
        ((A, b[0, 0, 0]), ValueError, "b has no dimensions"),
        ((A, b[:, :2]), ValueError, "b has 2 rows per system, A has 3"),
        ((A, b[[0, 0, 0]]), ValueError, "do not broadcast: A .2, 3, 3., b .3, 3, 1."),
    ):
        with pytest.raises(error, match=words):
            shoal.solve(*given)
    d = draw(3, device=device).requires_grad_()
    with pytest.raises(ValueError, match="du has 2 rows per system, d has 3"):
        shoal.solve_tridiagonal(d, d, d[:2], d)
    with pytest.raises(ValueError, match="dl has 0 dimensions"):
        shoal.solve_tridiagonal(d[0], d, d, d)
    with pytest.raises(ValueError, match="s has 0 dimensions"):
        shoal.recurrence(d[0], d)
    with pytest.raises(ValueError, match="t has 2"):
        shoal.recurrence(d, d[:2])
    with pytest.raises(TypeError, match="sparse.*to_dense"):
        shoal.solve(A.detach()[0].to_sparse(), b[0])
    assert "systems" in repr(shoal.solve_ex(A, b))


def test_no_gradient_is_lost_silently(device):
    A, b = symmetric((3, 3), device).requires_grad_(), draw(3, device=device)
    plan = shoal.TridiagonalPlan(1, 3, device=device)
    v = b[:, None]
    for call in (
        lambda: shoal.factor(A), lambda: shoal.lstsq(A, b), lambda: shoal.symmetric_indefinite(A),
        lambda: shoal.merge(A, A), lambda: plan.solve(v, A[:, :1].contiguous(), v, v), lambda: shoal.factor(A.detach()).solve(A[0]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="requires a gradient.*detach"):
            call()
        with torch.no_grad():
            call()
    with pytest.raises(TypeError, match="torch.func.*leading dimensions"):
        torch.func.jacrev(lambda b: shoal.solve(A.detach(), b))(b)


def test_gradients(device):
    sym = lambda A: (A + A.mT) / 2
    A, b = symmetric((2, 3, 3), device).requires_grad_(), draw(2, 3, 2, device=device).requires_grad_()
    v = draw(3, device=device).requires_grad_()
    check = torch.autograd.gradcheck
    assert check(lambda A, b: shoal.solve(sym(A), b), (A, b))
    assert check(lambda A, b: shoal.solve(sym(A), b), (A, v))
    dl, du = (draw(2, 5, device=device, seed=s).requires_grad_() for s in (2, 3))
    d = (6 + draw(2, 5, device=device, seed=4)).requires_grad_()
    y = draw(2, 5, device=device, seed=5).requires_grad_()
    for periodic in (False, True):
        for transposed in (False, True):
            f = lambda *a: shoal.solve_tridiagonal(*a, periodic, transposed=transposed)  # noqa: B023
            assert check(f, (dl, d, du, y))
    w0 = draw(2, device=device, seed=6).requires_grad_()
    for reverse in (False, True):
        assert check(lambda s, t, w: shoal.recurrence(s, t, w, reverse=reverse), (dl, y, w0))  # noqa: B023
    assert check(lambda A: shoal.eigh(sym(A))[0], (A,))
    assert check(lambda A: shoal.eigh(sym(A))[1].abs(), (A,))
    assert check(lambda k: shoal.sort(k), (y,))


def test_second_derivatives_of_a_solve(device):
    A, b = symmetric((3, 3), device).requires_grad_(), draw(3, 1, device=device).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda A, b: shoal.solve((A + A.mT) / 2, b), (A, b))


def test_a_failed_system_raises_with_gradients_too(device):
    A = torch.zeros(2, 2, dtype=torch.float64, device=device, requires_grad=True)
    with pytest.raises(shoal.LinAlgError):
        shoal.solve(A, torch.ones(2, dtype=torch.float64, device=device), method="ldlt")


def test_operators_are_fit_for_torch_compile(device):
    from shoal import _torch

    A, b = symmetric((2, 3, 3), device).requires_grad_(), draw(2, 3, 1, device=device).requires_grad_()
    torch.library.opcheck(_torch._solve_op, (A, b, "auto", "lower"))
    d = 6 + draw(2, 5, device=device)
    y = draw(2, 5, 1, device=device)
    torch.library.opcheck(_torch._bands_op, (d / 6, d, d / 6, y, False, False, "auto"))


def test_torch_compile_keeps_the_operators(device):
    A, b = symmetric((2, 3, 3), device).requires_grad_(), draw(2, 3, 1, device=device)
    f = lambda A, b: (shoal.solve((A + A.mT) / 2, b) ** 2).sum()  # noqa: E731
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    expected = torch.autograd.grad(f(A, b), A)[0]
    assert torch.allclose(torch.autograd.grad(compiled(A, b), A)[0], expected)


def test_torch_compile_may_be_the_first_to_call(device):
    code = f"""
import torch, shoal
A, b = torch.eye(3, device="{device}", dtype=torch.float64), torch.ones(3, device="{device}", dtype=torch.float64)
assert torch.equal(torch.compile(shoal.solve, backend="eager", fullgraph=True)(A, b), b)
"""
    run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dynamic", [False, True])
def test_torch_compile_keeps_every_function_whole(device, dynamic):
    compiled = lambda f: torch.compile(f, backend="aot_eager", fullgraph=True, dynamic=dynamic)  # noqa: E731
    torch._dynamo.reset()  # forgets the compiled code of other cases, which counts towards the limit
    A, d = symmetric((6, 4, 4), device), draw(6, 4, device=device) + 6
    for f, given in (
        (shoal.solve, (A, d[..., None])), (lambda d: shoal.solve_tridiagonal(d / 6, d, d / 6, d, True), (d,)),
        (lambda d: shoal.recurrence(d / 9, d), (d,)), (lambda A: shoal.eigh(A)[0], (A,)), (shoal.sort, (d,)),
    ):  # fmt: skip
        g = compiled(f)
        # code with a gradient and without, for symbols or for each shape
        with torch._dynamo.config.patch(recompile_limit=2 if dynamic else 6):
            for count in (5, 2, 3):
                part = [a[:count] for a in given]
                expected = f(*part)
                assert torch.allclose(g(*part), expected)
                part[0] = part[0].clone().requires_grad_()
                (slope,) = torch.autograd.grad(g(*part).sum(), part[0])
                (expected,) = torch.autograd.grad(f(*part).sum(), part[0])
                assert torch.allclose(slope, expected)


def test_threads_of_both_openmp_runtimes_in_one_process(device):
    torch.set_num_threads(2)
    a = draw(300, 300, device=device)
    A, b = symmetric((2000, 4, 4), device), draw(2000, 4, 1, device=device)
    for _ in range(5):
        assert torch.isfinite(a @ a).all()
        assert torch.allclose(A @ shoal.solve(A, b), b)
