"""Tensors read by our own reader, against what torch and numpy say; and files that lie."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.precision.dump.layout import find_dumps
from backends.precision.dump.read import read_dump
from backends.precision.dump.tensors import open_tensor
from backends.precision.dump.torch_child import NoTorch, tensors_through_torch
from backends.precision.measure.formats import STORAGE_DTYPES, widened
from studio.errors import StudioError
from tests.precision.dump.recorded import DUMPS, folder_of
from tests.precision.dump.save_tensors import NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAIN = [*NAMES, "codes_e4m3fn", "codes_e5m2", "transposed", "strided", "expanded", "parameter", "scalar", "empty"]
REAL = folder_of("torch_tensor") / "dump_tensor_data" / "Functional.linear.0.forward.output.0.pt"
REAL_NPY = folder_of("mindspore_tensor") / "dump_tensor_data" / "Functional.concat.0.forward.output.0.npy"


def joined(path: Path, count: int) -> NDArray[Any]:
    found = open_tensor(path)
    is_wide = found.dtype in STORAGE_DTYPES
    pieces = [widened(piece, found.dtype) if is_wide else piece.copy() for piece in found.chunks(count)]
    assert all(len(piece) <= count for piece in pieces)
    return np.concatenate(pieces) if pieces else np.zeros(0)


def refusal(path: Path) -> str:
    with pytest.raises(StudioError) as error:
        open_tensor(path)
    return error.value.key.removeprefix("precision.dump.")


@pytest.mark.parametrize("name", PLAIN)
def test_that_a_tensor_of_torch_is_read_bit_for_bit(saved: Path, name: str) -> None:
    expected = np.load(saved / f"{name}.npy")
    found = open_tensor(saved / f"{name}.pt")
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.whole(), expected)
    assert found.whole().dtype == expected.dtype
    if name in NAMES:
        assert found.dtype == name
    for count in (1, 4, 1000):
        np.testing.assert_array_equal(joined(saved / f"{name}.pt", count), expected.ravel())


@pytest.mark.parametrize("name", ["legacy", "conjugate", "sparse", "several"])
def test_that_what_is_no_plain_tensor_is_left_to_torch(saved: Path, name: str) -> None:
    assert refusal(saved / f"{name}.pt") == "needs_torch"


def nothing() -> None:
    """Is told that the child is at work."""


def test_that_what_only_torch_can_read_is_read_by_one_child(saved: Path, tmp_path: Path) -> None:
    names = ["legacy", "conjugate", "sparse", "old_bfloat16"]
    files = tensors_through_torch([saved / f"{name}.pt" for name in names], tmp_path, [sys.executable], nothing)
    assert [path.stem for path in files] == names
    for path, found in files.items():
        np.testing.assert_array_equal(found.whole(), np.load(saved / f"{path.stem}.npy"))
    assert [file.dtype for file in files.values()] == ["float32", "complex64", "float32", "bfloat16"]


def test_that_a_tensor_which_torch_refuses_takes_none_of_the_others_with_it(saved: Path, tmp_path: Path) -> None:
    """A dict of tensors, and something that would be executed."""
    code = pickle.dumps(Boom(), protocol=2)
    hostile = container(tmp_path / "a\n 保存.pt", {"data.pkl": code, "byteorder": b"little", "data/0": b"\0" * 16})
    files = tensors_through_torch(
        [hostile, saved / "several.pt", saved / "legacy.pt"], tmp_path, [sys.executable, "-I"], nothing
    )
    assert list(files) == [saved / "legacy.pt"]
    assert not Path(f"{sys.argv[0]}.boom").exists()


def test_that_every_tensor_of_the_recorded_dumps_is_read() -> None:
    for name in ("torch_tensor", "mindspore_tensor"):
        dump = read_dump(find_dumps(DUMPS / name)[0])
        assert dump.data_folder
        assert dump.file
        for row, file in dump.file.items():
            found = open_tensor(dump.data_folder / file)
            assert found.dtype == dump.dtypes[dump.dtype[row]]
            assert found.shape == dump.shapes[dump.shape[row]]
            if found.dtype == "float32":
                assert np.max(found.whole()) == pytest.approx(dump.stats[row][0], nan_ok=True)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128", "float16"])
def test_that_an_array_of_numpy_is_read_in_c_order(tmp_path: Path, order: Any, dtype: str) -> None:
    array = np.asarray(np.arange(30).reshape(2, 3, 5), dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(joined(tmp_path / "a.npy", 7), array.ravel())
    np.testing.assert_array_equal(open_tensor(tmp_path / "a.npy").whole(), array)


def test_that_arrays_without_numbers_are_refused(tmp_path: Path) -> None:
    for name, array in {
        "objects": np.array([Boom()]),
        "texts": np.array(["a"]),
        "days": np.array(["2026"], "M8[Y]"),
    }.items():
        np.save(tmp_path / f"{name}.npy", array)
        assert refusal(tmp_path / f"{name}.npy") == "no_numbers"
    np.save(tmp_path / "big.npy", np.arange(3, dtype=">f4"))
    assert refusal(tmp_path / "big.npy") == "other_byte_order"


def test_that_an_array_cut_off_or_of_absurd_size_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(8.0))
    whole = path.read_bytes()
    for content in (whole[:-1], whole[:20], whole.replace(b"(8,)", b"(99"), b"\x93NUMPY\x09\x00" + whole[8:]):
        path.write_bytes(content)
        assert refusal(path) == "tensor_damaged"
    for shape in (b"(-1,)", b"(9999999999999999999999,)", b"(0, 9999999999999999999999)", b"(" + b"9" * 1999 + b")"):
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + b"}\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        assert refusal(path) == "tensor_damaged"


def test_that_a_file_that_shrank_after_it_was_opened_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(100.0))
    found = open_tensor(path)
    with path.open("r+b") as file:
        file.truncate(200)
    with pytest.raises(StudioError) as error:
        list(found.chunks())
    assert error.value.key == "precision.dump.tensor_damaged"


class Boom:
    """Executes something when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path(f"{sys.argv[0]}.boom"),))


def container(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in parts.items():
            file.writestr(f"archive/{name}", content)
    return path


def tensor_code(
    *, offset: int = 0, shape: tuple[int, ...] = (4,), elements: int = 4, kind: bytes = b"FloatStorage"
) -> bytes:
    """data.pkl of a tensor as torch.save writes it, with numbers that may lie."""

    def number(value: int) -> bytes:
        return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)

    strides = tuple(int(np.prod(shape[place + 1 :])) for place in range(len(shape)))
    numbers = [b"(" + b"".join(map(number, values)) + b"t" for values in (shape, strides)]
    storage = (
        b"(X\x07\x00\x00\x00storagectorch\n"
        + kind
        + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + number(elements)
        + b"tQ"
    )
    rest = b"\x89ccollections\nOrderedDict\n)Rt"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + b"".join(numbers) + rest + b"R."


def lying(tmp_path: Path, code: bytes, data: bytes = b"\0" * 16) -> str:
    return refusal(container(tmp_path / "lying.pt", {"data.pkl": code, "byteorder": b"little", "data/0": data}))


def test_that_the_code_made_here_is_that_of_a_tensor(tmp_path: Path) -> None:
    path = container(tmp_path / "a.pt", {"data.pkl": tensor_code(), "data/0": np.arange(4, dtype="<f4").tobytes()})
    assert open_tensor(path).whole().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("protocol", range(6))
def test_that_a_hostile_file_executes_nothing(tmp_path: Path, protocol: int) -> None:
    boom = Path(f"{sys.argv[0]}.boom")
    code = pickle.dumps(Boom(), protocol=protocol)
    path = container(tmp_path / "hostile.pt", {"data.pkl": code, "byteorder": b"little", "data/0": b"\0" * 16})
    assert refusal(path) == "needs_torch"
    (tmp_path / "bare.pt").write_bytes(code)
    assert refusal(tmp_path / "bare.pt") == "needs_torch"
    assert not boom.exists()


@pytest.mark.parametrize(
    "name",
    [b"os\nsystem", b"builtins\nexec", b"torch\nload", b"torch._utils\n_rebuild_qtensor", b"torch\nFloatStorage.x"],
)
def test_that_only_the_names_of_plain_tensors_are_known(tmp_path: Path, name: bytes) -> None:
    code = b"\x80\x02c" + name + b"\nX\x02\x00\x00\x00id\x85R."
    assert lying(tmp_path, code) == "needs_torch"


@pytest.mark.parametrize(
    "code",
    [
        tensor_code(elements=5),
        tensor_code(elements=2**61),
        tensor_code(shape=(5,)),
        tensor_code(shape=(2**40, 2**20)),
        tensor_code(shape=(0, 2**40, 2**40)),
        tensor_code(offset=1),
        tensor_code(kind=b"DoubleStorage"),
    ],
)
def test_that_a_tensor_larger_than_its_storage_is_damaged(tmp_path: Path, code: bytes) -> None:
    assert lying(tmp_path, code) == "tensor_damaged"


@pytest.mark.parametrize("code", [tensor_code(shape=(-1,)), tensor_code(offset=-1), tensor_code(elements=-4)])
def test_that_negative_numbers_are_refused(tmp_path: Path, code: bytes) -> None:
    assert lying(tmp_path, code) == "needs_torch"


def test_that_a_compressed_container_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    parts = {"data.pkl": tensor_code(shape=(1 << 22,), elements=1 << 22), "data/0": b"\0" * (4 << 22)}
    assert refusal(container(tmp_path / "bomb.pt", parts, zipfile.ZIP_DEFLATED)) == "compressed"


def test_that_a_size_or_a_place_that_lies_is_damaged(tmp_path: Path) -> None:
    path = container(tmp_path / "a.pt", {"data.pkl": tensor_code(), "data/0": b"\0" * 16})
    whole = path.read_bytes()
    entry = whole.rindex(b"PK\1\2")
    for place, value in ((20, 1 << 30), (24, 1 << 30), (42, 0), (42, 1 << 30), (42, 7)):
        content = bytearray(whole)
        content[entry + place : entry + place + 4] = struct.pack("<I", value)
        path.write_bytes(content)
        assert refusal(path) == "tensor_damaged"


def test_that_two_members_at_one_place_are_damaged(tmp_path: Path) -> None:
    """The bomb of overlapping members: https://www.bamsoftware.com/hacks/zipbomb/."""
    path = container(tmp_path / "a.pt", {"data.pkl": tensor_code(), "data/0": b"\0" * 16, "data/1": b"\0" * 16})
    content = bytearray(path.read_bytes())
    last = content.rindex(b"PK\1\2")
    before = content.rindex(b"PK\1\2", 0, last)
    content[last + 42 : last + 46] = content[before + 42 : before + 46]
    path.write_bytes(content)
    assert refusal(path) == "tensor_damaged"


def test_that_a_container_with_wide_sizes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch writes tensors of 4 GB and more; here the limit is lower, not the tensor larger."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    parts = {"data.pkl": tensor_code(), "data/0": np.arange(4, dtype="<f4").tobytes()}
    path = container(tmp_path / "wide.pt", parts)
    assert b"PK\6\6" in path.read_bytes()
    assert open_tensor(path).whole().tolist() == [0, 1, 2, 3]


def test_that_other_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.pt").touch()
    assert refusal(tmp_path / "empty.pt") == "tensor_damaged"
    (tmp_path / "text.pt").write_text("hello")
    assert refusal(tmp_path / "text.pt") == "needs_torch"
    with pytest.raises(StudioError) as error:
        open_tensor(tmp_path / "missing.pt")
    assert error.value.key == "error.no_such_file"
    parts = {"data.pkl": tensor_code(), "byteorder": b"big", "data/0": b"\0" * 16}
    assert refusal(container(tmp_path / "big.pt", parts)) == "needs_torch"
    assert refusal(container(tmp_path / "other.zip", {"a.txt": b""})) == "tensor_damaged"


def test_that_an_interpreter_without_torch_is_said(tmp_path: Path) -> None:
    (tmp_path / "old.pt").write_bytes(b"\x80\x02")
    for python in ([sys.executable, "-S", "-E"], [str(tmp_path / "no-python")]):
        with pytest.raises(NoTorch):
            tensors_through_torch([tmp_path / "old.pt"], tmp_path, python, nothing)


class Asked(Exception):
    pass


def test_that_a_child_is_ended_with_who_waits_for_it_and_when_it_takes_too_long(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 100\n")
    python.chmod(0o755)
    (tmp_path / "old.pt").write_bytes(b"\x80\x02")

    def stop() -> None:
        raise Asked

    with pytest.raises(Asked):
        tensors_through_torch([tmp_path / "old.pt"], tmp_path, [str(python)], stop)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
    assert tensors_through_torch([tmp_path / "old.pt"], tmp_path, [str(python)], nothing, seconds=0.01) == {}
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_that_a_large_tensor_is_never_whole_in_memory(tmp_path: Path) -> None:
    """A gigabyte of holes, read by a process that may have 400 MB."""
    path = tmp_path / "large.npy"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 28,)})
    path.write_bytes(header.getvalue())
    with path.open("r+b") as file:
        file.truncate(len(header.getvalue()) + (4 << 28))
    code = (
        "import resource, sys; sys.path.insert(0, '.')\n"
        "from pathlib import Path\n"
        "from backends.precision.dump.tensors import open_tensor\n"
        "limit = 400 << 20\n"
        "used = int(Path('/proc/self/statm').read_text().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))\n"
        f"print(sum(len(piece) for piece in open_tensor(Path({str(path)!r})).chunks()))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=DUMPS.parents[3])
    assert ended.stdout.strip() == str(1 << 28), ended.stderr


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_that_no_change_of_a_file_crashes_or_reads_outside_of_it(folder: Path, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([REAL, REAL_NPY]))
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    changed = folder / source.name
    changed.write_bytes(content)
    with suppress(StudioError):
        found = open_tensor(changed)
        assert sum(len(piece) for piece in found.chunks()) == found.count
        assert found.count <= len(content)
        assert found.whole().shape == found.shape


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changed")
