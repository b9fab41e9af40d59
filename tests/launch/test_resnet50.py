"""ResNet-50 on CIFAR-10's files, and on random numbers, which is said and never measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.launch.engine_process import check, needs_mindspore

if TYPE_CHECKING:
    from pathlib import Path

RECORD, RECORDS = 3073, 10_000
OPTIONS = "--recipe resnet50 --device cpu --batch 1 --optimizer momentum --lr 0.01 --steps 1"
PARAMETERS = 23_520_842  # as of ResNet-50 with ten classes and a 3 x 3 stem, e.g. kuangliu/pytorch-cifar's


def write_pictures(folder: Path) -> None:
    """Whole files, black but for the first picture of each, which is as red as can be and has label 7."""
    folder.mkdir(parents=True)
    for name in (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"):
        with (folder / name).open("wb") as file:
            file.write(bytes([7]) + b"\xff" * 1024)
            file.truncate(RECORDS * RECORD)


@needs_mindspore
def test_that_it_trains_with_batch_norm_in_float32_and_says_what_it_learns_from(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    write_pictures(pictures / "cifar-10-batches-bin")
    script = f"""
import json, shutil
from pathlib import Path
import ascend_studio, mindspore as ms, numpy as np
from ascend_engine import recipe
from tests.launch.engine_config import config_of
from ascend_engine.failures import Failure
from ascend_engine.recipes import resnet50
from ascend_engine.train import Training

told = []
ascend_studio.note = lambda key, **args: told.append([key, args])
ascend_studio.finding = lambda key, severity, **args: told.append([key, args])
ms.set_context(mode=ms.PYNATIVE_MODE)

def config(more=""):
    return config_of("{OPTIONS} " + more)

random = recipe.build(config("--accumulate 2"))
found = {{"random": [list(random.metrics), random.eval_data, told.copy(), len(random.recompute)]}}

# With O2: values of 1000 have a variance that float16 does not reach.
training = Training(config("--amp O2 --loss-scale static"), "cpu", recipe.build(config()))
norm = training.plan.network.blocks[0].norm1
values = np.where(np.arange(64 * 16) % 2, 1000, -1000).reshape(1, 64, 4, 4)
normed = norm(ms.Tensor(values, ms.float16))
found["norm"] = [bool(np.isfinite(normed.asnumpy()).all()), str(normed.dtype)]
found["parameters"] = training.record.weight_count
outcome = training.step([random.train_data[np.array([0])]])
found["step"] = [outcome.finite, 1 < outcome.loss < 6]

folder = Path("{pictures}")
real = recipe.build(config(f"--images {{folder}} --best accuracy"))
inputs, labels = real.train_data[np.array([0, 1])]
found["pictures"] = [len(real.train_data), len(real.eval_data), list(inputs.shape), str(inputs.dtype), labels.tolist(),
                     list(real.metrics)]
found["colours"] = inputs[:, :, 0, 0].astype(float).round(2).tolist()

def wrong():
    try:
        recipe.build(config(f"--images {{folder / 'cifar-10-batches-bin'}}"))
    except Failure as failure:
        return [failure.rule, failure.args_of_rule]

file = folder / "cifar-10-batches-bin" / "data_batch_3.bin"
content = file.read_bytes()
file.write_bytes(content[:-1])
found["cut"] = wrong()
file.write_bytes(b"\\x0a" + content[1:])
found["label"] = wrong()
file.unlink()
found["missing"] = wrong()
print("\\n" + json.dumps(found))
"""
    found = json.loads(check(tmp_path, script).splitlines()[-1])
    file = str(pictures / "cifar-10-batches-bin" / "data_batch_3.bin")
    said = [["launch.random_data", {"samples": 2048}], ["launch.batch_norm", {"batch": 1, "total": 2}]]
    assert found["random"] == [[], None, said, 16]
    assert found["norm"] == [True, "Float16"]
    assert (found["parameters"], found["step"]) == (PARAMETERS, [True, True])
    assert found["pictures"] == [50_000, 500, [2, 3, 32, 32], "float32", [7, 0], ["accuracy"]]
    assert found["colours"] == [[2.06, -1.98, -1.71], [-1.99, -1.98, -1.71]]
    size = {"file": file, "size": RECORD * RECORDS - 1, "expected": RECORD * RECORDS}
    assert found["cut"] == ["launch.images_size", size]
    assert found["label"] == ["launch.images_labels", {"file": file, "label": 10}]
    assert found["missing"] == ["launch.images_unreadable", {"file": file, "error": "No such file or directory"}]
