"""The shipped tables, and what an installed torch_npu says before them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.scan.facts import (
    Facts,
    facts_of_interpreter,
    facts_of_project,
    kernels,
    releases,
    support,
    tables,
    transfer,
)
from backends.migration.scan.facts.libraries import find_library, load_libraries
from studio import texts
from tests.migration.torch_npu_files import interpreter_with


@pytest.fixture(scope="module")
def shipped() -> Facts:
    return facts_of_interpreter(None, None)


def test_that_an_api_has_an_answer_per_hardware(shipped: Facts) -> None:
    assert shipped.hardware_support("torch.nn.functional.scaled_dot_product_attention")["a2"] == "yes"
    assert shipped.hardware_support("torch.nn.DataParallel") == {"a2": "no", "a3": "no", "a950": "unverified"}


def test_that_a_name_in_no_table_is_unverified_and_never_unsupported(shipped: Facts) -> None:
    assert shipped.hardware_support("torch.of_the_future") == dict.fromkeys(("a2", "a3", "a950"), "unverified")


def test_that_a_class_is_not_unsupported_because_a_member_is(shipped: Facts) -> None:
    assert shipped.hardware_support("torch.optim.Adam")["a2"] == "yes"
    assert shipped.hardware_support("torch.optim.Adam.step")["a2"] == "unverified"


def test_that_a_method_of_a_tensor_has_an_answer_of_its_own(shipped: Facts) -> None:
    assert shipped.hardware_support("torch.Tensor.to_sparse")["a2"] == "no"


@pytest.mark.parametrize("version", support.table_versions())
def test_that_nothing_is_called_unsupported_on_950(version: str) -> None:
    names = [name for name in support._read_table()[1] if support.hardware_support(name, version)["a950"] == "no"]
    assert not names


def test_that_an_api_that_everybody_calls_by_another_name_is_found(shipped: Facts) -> None:
    assert shipped.hardware_support("torch.nn.Parameter")["a2"] == "yes"
    assert shipped.hardware_support("torch.set_grad_enabled")["a2"] == "yes"
    assert shipped.hardware_support("torch.amp.autocast")["a2"] == "yes"


def test_that_a_known_api_has_a_page_and_an_unknown_one_has_none(shipped: Facts) -> None:
    assert shipped.documentation_link("torch.abs").endswith("/pytorch_2-13-0/torch.md")
    assert shipped.documentation_link("torch.of_the_future") == ""


def test_that_the_npus_own_name_is_known(shipped: Facts) -> None:
    assert shipped.npu_name("torch.cuda.set_device") == "torch_npu.npu.set_device"
    assert shipped.npu_name("torch.abs") == ""


def test_that_a_restriction_is_flagged(shipped: Facts) -> None:
    restricted = {name for name in ("torch.abs", "torch.distributed.GradBucket") if shipped.is_restricted(name)}
    assert "torch.distributed.GradBucket" in restricted


@pytest.mark.parametrize(
    ("version", "table"),
    [("", "2.13.0"), ("2.7", "2.7.1"), ("1.13.1", "2.7.1"), ("2.8.0+cu128", "2.7.1"), ("2.10", "2.11.0"),
     ("2.12.1", "2.12.0"), ("3.0", "2.13.0"), ("nightly", "2.13.0")],
)  # fmt: skip
def test_that_the_nearest_table_is_taken(version: str, table: str) -> None:
    assert support.nearest_version(version) == table
    assert facts_of_interpreter(None, version).table == table


@given(st.text(max_size=20))
def test_that_any_version_leads_to_a_table(version: str) -> None:
    assert support.nearest_version(version) in support.table_versions()


@pytest.mark.parametrize(
    ("operator", "kind"),
    [("add.Tensor", "kernel"), ("aten::argmax", "kernel"), ("conv2d", "composite"), ("linalg_eig", "fallback"),
     ("histogram", "fallback"), ("scatter.reduce", "maybe"), ("_flash_attention_forward", "none"),
     ("nothing", "unknown")],
)  # fmt: skip
def test_that_an_operator_has_a_class(shipped: Facts, operator: str, kind: str) -> None:
    assert shipped.aten_class(operator) == kind


def test_that_the_mindspore_name_tells_whether_it_is_consistent(shipped: Facts) -> None:
    assert shipped.mindspore_name("torch.abs") == "mindspore.mint.abs"
    assert shipped.mindspore_name("torch.amax") == "~mindspore.mint.amax"
    assert shipped.mindspore_name("torch.compile") == ""


@pytest.mark.parametrize(
    ("name", "overlaid"),
    [("torch.cuda", True), ("torch.cuda.is_available", True), ("torch.cuda.Stream.wait_stream", True),
     ("torch.cuda.amp.GradScaler", True), ("torch.cuda.amp.autocast_mode.autocast", True),
     ("torch.cuda.amp.other", False),
     ("torch.cuda.memory._snapshot", True), ("torch.cuda.memory.empty_cache", False), ("torch.cuda.CUDAGraph", True),
     ("torch.cuda.random.manual_seed", True), ("torch.cuda.nvtx.range_push", False), ("torch.cuda.cudart", False)],
)  # fmt: skip
def test_that_the_overlay_of_torch_cuda_is_known(shipped: Facts, name: str, overlaid: bool) -> None:
    assert shipped.is_overlaid(name) is overlaid


@pytest.mark.parametrize(
    ("name", "found"),
    [("flash-attn", "flash_attn"), ("flash_attn.bert_padding", "flash_attn"), ("cupy-cuda12x", "cupy"),
     ("nvidia.dali.fn", "dali"), ("numba.cuda", "numba"), ("numpy", "numpy"), ("faiss-gpu-cu12", "faiss"),
     ("amp_C", "apex")],
)  # fmt: skip
def test_that_a_library_is_found_by_module_and_by_distribution(shipped: Facts, name: str, found: str) -> None:
    library = shipped.find_library(name)
    assert library is not None
    assert library.name == found


@pytest.mark.parametrize("name", ["numba", "nvidia", "some_project", "", "...", "é"])
def test_that_a_library_that_nobody_knows_is_none(name: str) -> None:
    assert find_library(name) is None


def test_that_a_library_that_needs_something_says_from_where_that_is_known() -> None:
    assert not [each.name for each in load_libraries().values() if not each.source.startswith("https://")]
    assert all(each.confidence == "low" for each in load_libraries().values() if each.state == "none")


def test_that_libraries_with_an_npu_of_their_own_need_nothing(shipped: Facts) -> None:
    native = [
        shipped.find_library(name) for name in ("transformers", "accelerate", "deepspeed", "diffusers", "peft", "trl")
    ]
    assert {each.state for each in native if each} == {"auto"}


@pytest.mark.parametrize(
    ("asks", "some"),
    [("", "2.14.0"), ("==2.7.1", "2.7.1"), ("==2.7.0", ""), ("==2.1.0+cu118", "2.1.0"), (">=1.13,<2.1", ""),
     ("<2.6", "2.5.1"), ("~=2.7.1", "2.7.1"), ("^2.12", "2.14.0"), ("=2.1", "2.1.0"), ("==2.9.*", "2.9.1"),
     ("==1.13.1", ""), (">2.14", ""), ("!=2.1", "2.14.0"), ("nonsense", "2.14.0")],
)  # fmt: skip
def test_that_a_requirement_of_torch_is_matched_with_the_releases_of_torch_npu(asks: str, some: str) -> None:
    assert releases.matching_releases(asks)[-1:] == ((some,) if some else ())


@given(st.text(alphabet="=<>~^!., 0123456789*abc", max_size=20))
def test_that_any_requirement_is_matched(asks: str) -> None:
    assert set(releases.matching_releases(asks)) <= set(releases.RELEASES)


# The torch_npu of the chosen interpreter


def test_that_an_installed_torch_npu_answers_before_the_tables(tmp_path: Path) -> None:
    python = interpreter_with(tmp_path, version="2.7.1", names=["is_available", "brand_new"], kernels=["histogram"])
    facts = facts_of_interpreter(python, None)
    assert facts.basis_text[0] == "rule_facts.installed"
    assert (facts.version, facts.table) == ("2.7.1", "2.7.1")
    assert facts.is_overlaid("torch.cuda.brand_new")
    assert not facts.is_overlaid("torch.cuda.synchronize")
    assert facts.aten_class("histogram") == "kernel"
    assert facts.aten_class("add.Tensor") == "maybe"
    assert facts.packages == {"torch-npu": "2.7.1"}


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_that_facts_say_where_they_are_from(tmp_path: Path, language: texts.Language) -> None:
    python = interpreter_with(tmp_path, version="2.7.1", names=["is_available"])
    for facts in (facts_of_interpreter(python, None), facts_of_interpreter(None, "2.8.0")):
        key, args = facts.basis_text
        sentence = texts.catalogue(language, "rule")[key].format(**args)
        assert facts.version in sentence
        assert facts.table in sentence


def test_that_another_version_that_is_asked_for_comes_from_the_tables(tmp_path: Path) -> None:
    python = interpreter_with(tmp_path, version="2.13.0", names=["is_available"])
    assert facts_of_interpreter(python, "2.13").basis_text[0] == "rule_facts.installed"
    assert facts_of_interpreter(python, "2.7.1").basis_text == (
        "rule_facts.shipped",
        {"version": "2.7.1", "folder": "", "table": "2.7.1"},
    )


def test_that_the_torch_of_an_interpreter_without_torch_npu_chooses_the_table(tmp_path: Path) -> None:
    python = interpreter_with(tmp_path, version="2.12.0", names=[])
    (tmp_path / "lib/python3.11/site-packages/torch_npu").rename(tmp_path / "elsewhere")
    assert facts_of_interpreter(python, None).table == "2.12.0"


@pytest.mark.parametrize("name", transfer.FILES)
@pytest.mark.parametrize("content", [b"", b"\x00", b"def (", b"(" * 20000, b"__all__ = [x]\n", b"_init = 3\n"])
def test_that_a_broken_torch_npu_is_passed_over(tmp_path: Path, name: str, content: bytes) -> None:
    python = interpreter_with(tmp_path, version="2.13.0", names=["is_available"])
    (tmp_path / "lib/python3.11/site-packages" / name).write_bytes(content)
    facts = facts_of_interpreter(python, None)
    assert facts.basis_text[0] == "rule_facts.shipped"
    assert facts.is_overlaid("torch.cuda.synchronize")


def test_that_a_huge_file_of_an_installed_torch_npu_is_not_read(tmp_path: Path) -> None:
    python = interpreter_with(tmp_path, version="2.13.0", names=["is_available"])
    with (tmp_path / "lib/python3.11/site-packages" / transfer.TRANSFER).open("ab") as file:
        file.truncate(1 << 30)
    assert facts_of_interpreter(python, None).basis_text[0] == "rule_facts.shipped"


def test_that_an_interpreter_that_is_not_there_gives_the_tables(tmp_path: Path) -> None:
    assert facts_of_interpreter(tmp_path / "none" / "bin" / "python", None).basis_text[0] == "rule_facts.shipped"


def test_that_a_fingerprint_changes_with_the_installed_torch_npu(tmp_path: Path) -> None:
    each = interpreter_with(tmp_path / "a", version="2.13.0", names=["is_available"])
    other = interpreter_with(tmp_path / "b", version="2.13.0", names=["is_available", "more"])
    prints = {facts_of_interpreter(python, None).fingerprint for python in (each, other, None)}
    assert len(prints) == 3


@given(st.text())
def test_that_any_yaml_is_read_without_an_error(text: str) -> None:
    assert all(isinstance(name, str) and name for name in kernels.parse_supported_operators(text))


def test_that_only_supported_operators_are_taken_from_the_yaml() -> None:
    text = (
        "backend: NPU\ncustom:\n- func: npu_own(Tensor self) -> Tensor\nsupported:\n  - view\n"
        "  - func: clone\n    op_api: True\n- add.Tensor\n- device_check: NoCheck\n  func: mul.out\nsymint:\n- other\n"
    )
    assert list(kernels.parse_supported_operators(text)) == ["view", "clone", "add.Tensor", "mul.out"]


def test_that_the_tables_are_small() -> None:
    sizes = [path.stat().st_size for path in tables.FOLDER.iterdir()]
    assert sum(sizes) < 400_000


def test_that_the_projects_own_environment_is_asked_where_none_is_named(tmp_path: Path) -> None:
    interpreter_with(tmp_path / ".venv", version="2.7.1", names=["is_available"])
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    assert facts_of_project(tmp_path, Path(), "").version == "2.7.1"
    assert facts_of_project(tmp_path, Path(), "").folder == str(
        tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    )


def test_that_an_environment_without_torch_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    assert facts_of_project(tmp_path, Path(), "").folder == ""
