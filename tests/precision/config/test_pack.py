"""Packs that came from anywhere: what is read of them, and what is refused."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.precision.config import pack
from backends.precision.config.pack import read_pack
from backends.precision.config.pack_discovery import pair_packs, read_packs
from studio.errors import StudioError
from tests.precision.config import packs

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = json.dumps({"layer.weight": {"max": 1.0, "min": -1.0, "mean": 0.0, "norm": 2.0}})


def test_that_a_pack_is_read_without_what_may_be_secret(tmp_path: Path) -> None:
    env = json.dumps({"HCCL_ALGO": "x", "WANDB_API_KEY": packs.SECRET, "MY_TOKEN": packs.SECRET})
    path = packs.write(
        tmp_path / "rank3.zip", packs.own(rank=3), env=env, pip="numpy=1.26.4\ntorch=2.13.0+cpu\n\n=x\n",
        weights__step0__rank3__weight=WEIGHTS, something__else="{}",
    )  # fmt: skip
    found = read_pack(path)
    assert (found.rank, found.env) == (3, {"HCCL_ALGO": "x"})
    assert found.packages == {"numpy": "1.26.4", "torch": "2.13.0+cpu"}
    assert list(found.members) == ["weights/step0/rank3/weight.json"]
    assert found.own is not None
    assert found.own.seeds["torch.seed"] == 3


def test_that_a_pack_of_msprobe_alone_is_read_with_the_rank_of_its_name(tmp_path: Path) -> None:
    found = read_pack(packs.write(tmp_path / "bench_rank2.zip", None, pip="numpy=1.26.4\n"))
    assert (found.own, found.rank, found.env) == (None, 2, None)


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "weights/../../x", "a\\..\\b"])
def test_that_a_pack_that_names_a_place_outside_of_itself_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("pip", "numpy=1\n")
        archive.writestr(zipfile.ZipInfo(name), "x")
    with pytest.raises(StudioError, match="an entry outside its own folder"):
        read_pack(tmp_path / "a.zip")


def test_that_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("env", b" " * 50_000_000)
    with pytest.raises(StudioError, match="far more"):
        read_pack(tmp_path / "a.zip")
    monkeypatch.setattr(pack, "LARGEST_MEMBER", 100)
    with pytest.raises(StudioError, match="far more"):
        read_pack(packs.write(tmp_path / "b.zip", packs.own(versions={"x": "y" * 200})))
    monkeypatch.setattr(pack, "MAX_MEMBERS", 1)
    with pytest.raises(StudioError, match="2 entries"):
        read_pack(packs.write(tmp_path / "c.zip", packs.own(), pip="x=1\n"))


def test_that_a_size_that_lies_is_no_way_around(tmp_path: Path) -> None:
    path = packs.write(tmp_path / "a.zip", packs.own(), env=json.dumps({"a": " " * 5_000_000}))
    data = path.read_bytes()
    whole = (5_000_000 + 9).to_bytes(4, "little")
    assert data.count(whole) == 2
    path.write_bytes(data.replace(whole, (100).to_bytes(4, "little")))
    with pytest.raises(StudioError, match="not a configuration pack"):
        read_pack(path)


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04 cut", b"hello"])
def test_that_what_is_no_zip_or_holds_nothing_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(StudioError, match="not a configuration pack"):
        read_pack(tmp_path / "a.zip")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=some.one_of(some.binary(max_size=40), some.text(max_size=40).map(str.encode)), at=some.integers(0, 400))
def test_that_any_damage_is_a_pack_or_a_sentence(tmp_path: Path, own: bytes, at: int) -> None:
    path = tmp_path / "any.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("studio.json", own)
        archive.writestr("pip", b"torch=1\n" + own)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x41
    path.write_bytes(data)
    said, found = "", None
    try:
        found = read_pack(path)
    except StudioError as error:
        said = str(error)
    assert found is not None or str(path) in said


def test_that_packs_are_found_in_a_run_in_a_folder_and_as_a_file(tmp_path: Path) -> None:
    run = tmp_path / "a run 中文"
    for rank in (10, 2):
        packs.write(run / "artifacts" / "config" / f"rank{rank}.zip", packs.own(rank=rank))
    assert [one.rank for one in read_packs(run)] == [2, 10]
    assert [one.rank for one in read_packs(run / "artifacts" / "config")] == [2, 10]
    assert [one.rank for one in read_packs(run / "artifacts" / "config" / "rank2.zip")] == [2]
    (tmp_path / "other" / "artifacts").mkdir(parents=True)
    with pytest.raises(StudioError, match="contains no pack"):
        read_packs(tmp_path / "other")
    (tmp_path / "other" / "run.json").touch()
    with pytest.raises(StudioError, match="Keep this side's configuration"):
        read_packs(tmp_path / "other")


def test_that_ranks_are_paired_by_number_and_one_each_whatever_it_is(tmp_path: Path) -> None:
    of = {rank: read_pack(packs.write(tmp_path / f"rank{rank}.zip", packs.own(rank=rank))) for rank in range(4)}
    assert [(a.rank, b.rank) for a, b in pair_packs((of[0], of[1], of[2]), (of[1], of[2], of[3]))] == [(1, 1), (2, 2)]
    assert pair_packs((of[0],), (of[3],)) == ((of[0], of[3]),)
    with pytest.raises(StudioError, match="no rank in common: A has 0, 1, B has 2, 3"):
        pair_packs((of[0], of[1]), (of[2], of[3]))
