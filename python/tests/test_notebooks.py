# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/ run from top to bottom, with small sizes. Skipped where what runs them is not installed."""

import os
import pathlib
import shutil

import pytest

for module in ("nbclient", "nbformat", "ipykernel", "pandas", "matplotlib"):
    pytest.importorskip(module)

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
SIZES = {"systems": 2000, "cva": 64, "surrogate": 5000}


def test_every_notebook_has_a_size():
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("SHOAL_EXAMPLE_SIZE", str(SIZES[name]))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for file in EXAMPLES.iterdir():
        if file.suffix in (".csv", ".net", ".ipynb"):
            shutil.copy(file, tmp_path)
    notebook = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs if "image/png" in o.get("data", {})]
    assert pictures
    kept = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in kept.cells), "clear the outputs before a notebook is committed"
    assert not os.path.exists(EXAMPLES / "cva-report.html")
