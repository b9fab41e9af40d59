"""What the scan says of torch_npu, held against its wheel; what it says of torch, against the installed torch."""

from __future__ import annotations

import ast
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from backends.migration.scan.facts import Facts, facts_of_interpreter, kernels, tables
from backends.migration.scan.verdicts.api_verdicts import MARKS, NOT_OVERLAID
from backends.migration.scan.verdicts.file_verdicts import RENAMED
from backends.migration.scan.verdicts.text_verdicts import REPLACED, WRAPPED_AS

# Set by CANN's HCCL, which is not in the wheel.
OF_CANN = {"NCCL_SOCKET_IFNAME"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """Facts of an environment that holds the files of the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    packages = folder / "lib" / "python3.11" / "site-packages"
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.endswith((".py", ".yaml", "METADATA"))]
        opened.extractall(packages, names)
    return facts_of_interpreter(folder / "bin" / "python", None)


def texts(wheel: Path, *endings: str) -> str:
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.endswith(endings)]
        return "\n".join(opened.read(name).decode("utf-8", "replace") for name in names)


def test_that_the_wheel_answers_as_the_shipped_table_does(installed: Facts) -> None:
    shipped = facts_of_interpreter(None, None)
    assert installed.basis_text[0] == "rule_facts.installed"
    assert installed.transfer == shipped.transfer
    different = [name for name in tables.aten_kinds() if installed.aten_class(name) != shipped.aten_class(name)]
    assert not different


def test_that_the_wheel_lists_no_kernel_that_the_table_lacks(installed: Facts) -> None:
    assert installed.kernels is not None
    known = {name for name, kind in tables.aten_kinds().items() if kind == kernels.KERNEL}
    assert installed.kernels - known == {"copy_memory_", "empty_with_format"}  # of torch_npu alone


def test_that_mstx_has_what_is_offered_for_nvtx(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        tree = ast.parse(opened.read("torch_npu/npu/mstx.py"))
    (mstx,) = (one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "mstx")
    assert {one.name for one in mstx.body if isinstance(one, ast.FunctionDef)} >= MARKS | {"mstx_range"}


def test_that_the_variables_that_are_offered_are_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = [one.filename for one in opened.infolist() if one.filename.endswith((".so", ".py"))]
        held = b"\n".join(opened.read(name) for name in names)
    wanted = {"ASCEND_RT_VISIBLE_DEVICES"} | {
        name.replace("PYTORCH_CUDA", "PYTORCH_NPU").replace("CUDA", "ASCEND").replace("NCCL", "HCCL")
        for name in RENAMED - OF_CANN
    }
    assert not [name for name in wanted if name.encode() not in held]


def test_that_functions_of_other_names_lead_to_wrapped_ones() -> None:
    device = facts_of_interpreter(None, None).transfer.device
    assert not [name for name in WRAPPED_AS.values() if name not in device]


def test_that_what_replaces_whole_functions_does(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        source = opened.read("torch_npu/contrib/transfer_to_npu.py").decode()
    assert not [name for name in REPLACED if f"{name} = " not in source]


def test_that_calls_that_recipes_name_are_in_the_wheel(wheel: Path) -> None:
    source = texts(wheel, "torch_npu/npu/__init__.py", "npu/npu_config.py", "npu/backends.py", "utils/cpp_extension.py")
    for name in ("mem_get_info", "utilization", "NPUPluggableAllocator", "allow_hf32", "fft_plan_cache", "NpuExtension",
                 "is_bf16_supported", "TORCH_NPU_DEVICE_CAPABILITY"):  # fmt: skip
        assert name in source


def test_that_names_that_transfer_to_npu_leaves_are_torchs(installed: Facts) -> None:
    """Of the installed torch, whose file is read and not imported."""
    found = find_spec("torch")
    if found is None or found.origin is None:
        pytest.skip("there is no torch here")
    tree = ast.parse((Path(found.origin).parent / "cuda" / "__init__.py").read_text("utf-8"))
    (public,) = (
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__"
    )
    left = {name for name in public if not installed.is_overlaid(f"torch.cuda.{name}")}
    of_ours = {name for names in NOT_OVERLAID.values() for name in names} - {"comm"}
    assert of_ours <= left
    assert {"nvtx", "nccl", "cudart", "tunable", "GreenContext"} <= left
