"""Checkpoints, dumps, profiles, packs and caches that somebody made to be opened."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.paths import ROOT
from tests.prove.support.hostile.run_folders import ESCAPES, request, run_folder, write
from tests.prove.support.hostile.trial import OTHER, Trap

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.prove.support.hostile.trial import Place

DUMPS = ROOT / "tests" / "recorded" / "precision" / "dumps"
PICKLED = ("pickle.pt", "zip.pt", "zip.pth", "zip.bin", "pickle.ckpt", "zip.ckpt", "object.npy", "object.npz")


class Payload:
    """Unpickled, it runs Python code."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (self.code,)


def pickled(code: str) -> bytes:
    return pickle.dumps({"model": Payload(code)}, protocol=2)


def checkpoint(path: Path, code: str) -> Path:
    """Write a file of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.startswith("pickle"):
        path.write_bytes(pickled(code))
    elif path.name.startswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", pickled(code))
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/byteorder", "little")
    elif path.suffix == ".npy":
        np.save(path, np.array([Payload(code)], dtype=object))
    else:
        np.savez(path, weight=np.array([Payload(code)], dtype=object))
    return path


def unpickle(path: Path) -> tuple[str, ...]:
    """Return a command that loads a file as careless scripts do."""
    load = "import sys, numpy, torch\np = sys.argv[1]\n"
    if path.suffix in (".npy", ".npz"):
        load += "x = numpy.load(p, allow_pickle=True)\n[x[k] for k in getattr(x, 'files', ())]"
    else:
        load += "torch.load(p, weights_only=False)"
    return (sys.executable, "-c", load, str(path))


def tensor_file(name: str, words: tuple[str, ...]) -> Callable[[Place], Trap]:
    """FILE in `words` stands for the file, GOOD for a harmless one."""

    def build(place: Place) -> Trap:
        path = checkpoint(place.hostile / name, place.python())
        good = place.hostile / "good.npz"
        np.savez(good, weight=np.ones(3))
        place.hand_over()
        return _trap(place, words, FILE=path, GOOD=good, naive=unpickle(path))

    return build


def _trap(
    place: Place, words: tuple[str, ...], naive: tuple[str, ...] = (), allowed: tuple[str, ...] = (), **paths: Path
) -> Trap:
    filled = tuple(str(paths[word]) if word in paths else word for word in words)
    return Trap(words=("--no-project", *filled), cwd=place.hostile, naive=naive, allowed=allowed)


def dump(place: Place, kind: str) -> tuple[Path, Path]:
    """Copy a recorded dump with its tensors, and replace something in one of both sides."""
    sides = [place.hostile / side for side in ("target", "golden")]
    for side in sides:
        shutil.copytree(DUMPS / "torch_tensor", side)
    rank = next((sides[0] / "step0").iterdir())
    tensors = sorted((rank / "dump_tensor_data").iterdir())
    if kind == "pickles":
        for tensor in tensors:
            tensor.write_bytes(pickled(place.python()))
    elif kind == "zips":
        for tensor in tensors:
            checkpoint(tensor.with_name("zip.pt"), place.python()).replace(tensor)
    elif kind == "object arrays":
        for tensor in tensors:
            checkpoint(rank / "object.npy", place.python()).replace(tensor.with_suffix(".npy"))
            tensor.unlink(missing_ok=tensor.suffix == ".npy")
    elif kind == "names":
        text = (rank / "dump.json").read_text(encoding="utf-8")
        first = next(iter(json.loads(text)["data"]))
        changed = json.loads(text)
        name = f'{ESCAPES}"); __import__("os").system("true") #<img src=x>\n=1+1'
        changed["data"] = {f"Torch.{name}.0.forward": changed["data"][first], **changed["data"]}
        write(rank / "dump.json", changed)
    elif kind == "paths out":
        changed = json.loads((rank / "dump.json").read_text(encoding="utf-8"))
        text = json.dumps(changed).replace('.pt"', '.pt/../../../../../outside/profile"')
        (rank / "dump.json").write_text(text.replace('.npy"', '/../../../../../outside/profile"'), encoding="utf-8")
    elif kind == "links":
        for tensor in tensors:
            tensor.unlink()
            tensor.symlink_to(place.outside / "profile")
    elif kind == "deep":
        (rank / "dump.json").write_text('{"data":' + '{"a":' * 100_000 + "1" + "}" * 100_001, encoding="utf-8")
    return sides[0], sides[1]


DUMP_KINDS = ("pickles", "zips", "object arrays", "names", "paths out", "links", "deep")


def dump_case(kind: str, words: tuple[str, ...]) -> Callable[[Place], Trap]:
    def build(place: Place) -> Trap:
        target, golden = dump(place, kind)
        place.hand_over()
        return _trap(place, words, TARGET=target, GOLDEN=golden)

    return build


def comparison_case(words: tuple[str, ...]) -> Callable[[Place], Trap]:
    """A comparison that was brought here, of dumps with hostile names whose runs have commands."""

    def build(place: Place) -> Trap:
        from backends.precision.compare.work import compare

        sides = []
        for number in (1, 2):
            run = run_folder(place, name=f"20260101-000000-00{number}-script-beef")
            target = run / "artifacts" / "captures" / "1" / "dump"
            shutil.copytree(DUMPS / "torch_tensor", target)
            sides.append(target)
        rank = next((sides[0] / "step0").iterdir())
        text = (rank / "dump.json").read_text(encoding="utf-8")
        changed = json.loads(text)
        for number, call in enumerate(changed["data"].values()):
            for value in (*call.get("input_args", ()), *call.get("output", ())):
                if isinstance(value, dict) and isinstance(value.get("Max"), float):
                    value |= {name: value[name] * 3 for name in ("Max", "Min", "Mean", "Norm")}
            hostile = f'__import__("os").system("id >> {place.canaries}/{number}")'
            call.setdefault("input_kwargs", {})["mode"] = {"type": "str", "value": f"'+{hostile}+'\n"}
        write(rank / "dump.json", changed)
        run = place.hostile / ".ascend-studio" / "runs" / "20260101-000000-003-compare-beef"
        (run / "artifacts").mkdir(parents=True)
        values = {"sides": {"target": str(sides[0]), "golden": str(sides[1])}}
        write(run / "run.json", request("compare", values))
        from backends.precision.compare.spec import CompareSpec
        from studio import run as runs
        from studio import schema

        spec = schema.with_value(schema.with_value(CompareSpec(), "target", sides[0]), "golden", sides[1])
        write(run / "run.json", request("compare", dict(schema.to_json(spec))))
        compare(spec, runs.open_run(run))
        place.hand_over()
        return _trap(place, words, COMPARISON=run)

    return build


# Profiles


def profile(place: Place, kind: str) -> Path:
    folder = place.hostile / "profile"
    folder.mkdir()
    event = {"ph": "X", "name": f"{ESCAPES}<b>=1+1", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {ESCAPES: ESCAPES}}
    path = folder / "trace.json"
    if kind == "names":
        meta = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": ESCAPES}}
        write(path, [meta, event, {**event, "tid": f"{ESCAPES}\n"}])
    elif kind == "deep":
        path.write_text("[" + '{"args":' * 50_000 + "1" + "}" * 50_000 + "]", encoding="utf-8")
    elif kind == "huge numbers":
        write(path, [{**event, "ts": 10**400, "dur": -(10**300), "pid": 10**60, "tid": -1}, event])
    elif kind == "bomb":
        path = folder / "trace.json.gz"
        with gzip.open(path, "wb") as file:
            for _ in range(64):
                file.write(b" " * (1 << 20))
    elif kind == "link out":
        path.symlink_to(place.outside / "profile")
    elif kind == "pickles in columns":
        for name in ("start.npy", "end.npy", "name.npy"):
            checkpoint(folder / "object.npy", place.python()).replace(folder / name)
        write(path, [event])
    else:
        path = _database(folder, kind)
    return path


def _database(folder: Path, kind: str) -> Path:
    path = folder / "ascend_pytorch_profiler_0.db"
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA journal_mode=WAL" if kind == "database with a journal" else "PRAGMA journal_mode=DELETE")
        base.execute("CREATE TABLE STRING_IDS (id INTEGER, value TEXT)")
        base.execute("CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, streamId, taskType)")
        base.execute("INSERT INTO STRING_IDS VALUES (1, ?)", (ESCAPES,))
        base.execute("INSERT INTO TASK VALUES (?, ?, 0, 1, 1, 1, 1)", (2**62, -(2**62)))
        base.execute("CREATE TABLE real (a)")
        if kind == "database with views":
            base.execute("CREATE TRIGGER t AFTER INSERT ON TASK BEGIN SELECT load_extension('./evil.so'); END")
            base.execute("CREATE VIEW PYTORCH_API AS SELECT writefile('evil', 'x') AS startNs, 1 AS endNs")
            base.execute("CREATE VIEW CANN_API AS SELECT load_extension('./evil.so') AS startNs FROM real")
    base.close()
    return path


PROFILE_KINDS = (
    "names", "deep", "huge numbers", "bomb", "link out", "pickles in columns", "database with views",
    "database with a journal",
)  # fmt: skip


def profile_case(kind: str, words: tuple[str, ...]) -> Callable[[Place], Trap]:
    def build(place: Place) -> Trap:
        path = profile(place, kind)
        place.hand_over()
        return _trap(place, words, FILE=path)

    return build


# Caches


KERNELS = "from backends.timeline.query.numba_kernels import load_kernels; assert load_kernels()"


def kernels_case(place: Place) -> Trap:
    """Compiled kernels in a cache folder of everybody, replaced by somebody."""
    code = Path(os.environ.get("PROVE_TRUST_CODE", ROOT))
    home = place.root / "shared"
    home.mkdir()
    home.chmod(0o777)
    line = (sys.executable, "-c", KERNELS)
    env = {**os.environ, **place.env, "XDG_CACHE_HOME": str(home)}
    subprocess.run(line, cwd=code, env=env, check=True, capture_output=True)
    folder = home / "ascend-studio" / "numba"
    if not any(folder.rglob("*.nbi")):  # the folder was refused at once: compile into it all the same
        subprocess.run(line, cwd=code, env=env | {"NUMBA_CACHE_DIR": str(folder)}, check=True, capture_output=True)
    for path in folder.rglob("*.nbi"):
        path.write_bytes(pickled(place.python()))
    if os.geteuid() == 0:
        for path in (home / "ascend-studio", folder, *folder.rglob("*")):
            os.chown(path, OTHER, OTHER)
    naive = ("env", f"NUMBA_CACHE_DIR={folder}", f"PYTHONPATH={code}", *line)
    return Trap(words=("-c", KERNELS), cwd=code, env={"XDG_CACHE_HOME": str(home)}, naive=naive)


def cache(place: Place) -> None:
    """Fill the user's cache folder as somebody could who may write to it."""
    home = place.home / "cache" / "ascend-studio"
    for name in ("timeline", "migration", "timeline-db", "precision"):
        (home / name).mkdir(parents=True, exist_ok=True)
        (home / name / "x.pack").write_bytes(pickled(place.python()))
        (home / name / "link").symlink_to(place.outside / "folder")
        (home / name / "0123.gone-1").symlink_to(place.outside / "folder")
        os.utime(home / name / "link", (0, 0), follow_symlinks=False)
        os.utime(place.outside / "folder", (0, 0))


def cache_case(words: tuple[str, ...]) -> Callable[[Place], Trap]:
    def build(place: Place) -> Trap:
        path = profile(place, "database with a journal")
        (path.parent / (path.name + "-wal")).write_bytes(b"x" * 100)
        (place.hostile / "train.py").write_text("import torch\nx = torch.ones(1).cuda()\n", encoding="utf-8")
        cache(place)
        place.hand_over()
        return _trap(place, words, FILE=path, FOLDER=place.hostile)

    return build


# Packs


def pack_case(kind: str, words: tuple[str, ...]) -> Callable[[Place], Trap]:
    def build(place: Place) -> Trap:
        paths = {side: place.hostile / f"{side}.zip" for side in ("A", "B")}
        own = {"format": 1, "framework": "torch", "python": str(place.script(place.hostile / "python"))}
        own |= {"seeds": {ESCAPES: ESCAPES}, "versions": {ESCAPES: "=1+1"}}
        for path in paths.values():
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("studio.json", json.dumps(own))
                archive.writestr("env", json.dumps({ESCAPES: ESCAPES, "LD_PRELOAD": "/evil.so"}))
                if kind == "members out":
                    archive.writestr("../../outside/profile", "written")
                    archive.writestr(str(place.outside / "absolute"), "written")
                elif kind == "pickles":
                    archive.writestr("weights.pkl", pickled(place.python()))
                elif kind == "bomb":
                    archive.writestr("pip", b"x" * 100_000_000)
        place.hand_over()
        return _trap(place, words, A=paths["A"], B=paths["B"])

    return build


# Checkpoints of a run


def resume_case(words: tuple[str, ...]) -> Callable[[Place], Trap]:
    """A run to resume from whose checkpoint holds pickles and names of other places."""

    def build(place: Place) -> Trap:
        folder = run_folder(place, "launch")
        write(folder / "run.json", request("launch", {"what": {"recipe": "linear"}}))
        checkpoints = folder / "artifacts" / "checkpoints"
        step = checkpoints / "step-000002-3f9a1c7e"
        step.mkdir(parents=True)
        for name in ("weights.safetensors", "rest.safetensors", "state.json"):
            (step / name).write_bytes(pickled(place.python()))
        (checkpoints / "last").write_text(f"{step.name}", encoding="utf-8")
        (checkpoints / "best").write_text("../../../../../../outside/folder", encoding="utf-8")
        place.hand_over()
        return _trap(place, words, RUN=folder)

    return build


def undo_case(kind: str) -> Callable[[Place], Trap]:
    """A record of a migration that never was: undoing it would write where it says."""

    def build(place: Place) -> Trap:
        import hashlib

        run = run_folder(place, "migrate")
        write(run / "run.json", request("migrate", {}))
        originals = run / "artifacts" / "originals"
        originals.mkdir()
        (originals / "0").write_bytes(b"written\n")
        digests = {"before": hashlib.sha256(b"written\n").hexdigest(), "after": hashlib.sha256(b"kept\n").hexdigest()}
        target, path = {
            "target outside": (place.outside, "profile"),
            "path out": (place.hostile, "../outside/profile"),
            "absolute path": (place.hostile, str(place.outside / "profile")),
        }.get(kind, (place.outside / "gone", "x"))
        undo = {
            "folder": str(place.hostile),
            "target": str(target),
            "files": [{"path": path, "original": "0", **digests}],
        }
        if kind == "unfinished copy":
            (place.outside / ".gone.making").mkdir()
            (place.outside / ".gone.making" / "file").write_text("kept")
        write(run / "artifacts" / "undo.json", undo)
        place.hand_over()
        return _trap(place, ("migrate", "--undo", "RUN"), RUN=run)

    return build
