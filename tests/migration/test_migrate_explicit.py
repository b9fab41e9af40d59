"""The explicit style: code that runs on an NPU, on a GPU and on a CPU."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest

from backends.migration.migrate.variable_edits import VARIABLES
from backends.migration.scan.project_scan import scan_project
from tests.migration.plans import (
    FACTS,
    migrated_text,
    plan_project,
    planned_texts,
    project,
)

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.migrate.changes import Style

DEVICE = 'DEVICE_TYPE = "npu" if hasattr(torch, "npu") else "cuda"'


def last_line(folder: Path, line: str, head: str = "import torch\n") -> str:
    text = migrated_text(folder, "explicit", f"{head}{line}\n")
    ast.parse(text)
    return text.rstrip("\n").split("\n")[-1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('x = torch.zeros(2, device="cuda")', "x = torch.zeros(2, device=DEVICE_TYPE)"),
        ("x = torch.device('cuda:1')", "x = torch.device(f'{DEVICE_TYPE}:1')"),
        ('x = f"cuda:{rank}"', 'x = f"{DEVICE_TYPE}:{rank}"'),
        ('x = torch.device("cuda:%d" % rank)', 'x = torch.device(f"{DEVICE_TYPE}:%d" % rank)'),
        ("x = torch.device('cuda:{}'.format(rank))", "x = torch.device((DEVICE_TYPE + ':{}').format(rank))"),
        ('x = torch.device("cuda:" + str(rank))', 'x = torch.device(f"{DEVICE_TYPE}:" + str(rank))'),
        ("y = x.cuda()", "y = x.to(DEVICE_TYPE)"),
        ("y = x.cuda( non_blocking=True )  # cuda", "y = x.to( DEVICE_TYPE, non_blocking=True )  # cuda"),
        ("y = x.cuda(rank, True)", "y = x.to(torch.device(DEVICE_TYPE, rank), non_blocking=True)"),
        ("y = x.cuda(0)", 'y = x.to(f"{DEVICE_TYPE}:0")'),
        ("y = x.cuda(device)", "y = x.to(device)"),
        ("y = f(x.cuda()).cuda()", "y = f(x.to(DEVICE_TYPE)).to(DEVICE_TYPE)"),
        ("if x.is_cuda: pass", "if x.device.type == DEVICE_TYPE: pass"),
        ("y = x.is_cuda == z", "y = (x.device.type == DEVICE_TYPE) == z"),
        ('y = x.device.type == "cuda"', "y = x.device.type == DEVICE_TYPE"),
        ('y = "cuda" in str(x.device)', "y = DEVICE_TYPE in str(x.device)"),
        ("y = torch.cuda.memory_allocated()", "y = accelerator.memory_allocated()"),
        ("y = torch.cuda.amp.autocast(False)", "y = torch.amp.autocast(DEVICE_TYPE, enabled=False)"),
        ("y = torch.cuda.amp.GradScaler()", "y = torch.amp.GradScaler(DEVICE_TYPE)"),
        ("torch.cuda.nvtx.range_push('a')", "profiler_ranges.range_push('a')"),
        ("y = getattr(torch, 'cuda').synchronize()", "y = accelerator.synchronize()"),
    ],
)
def test_that_a_line_becomes_one_for_every_device(tmp_path: Path, line: str, expected: str) -> None:
    assert last_line(tmp_path, line) == expected


def test_that_the_prelude_stands_behind_the_import_of_torch_and_has_only_what_is_needed(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", '"""cuda"""\nimport os\nimport torch\nimport sys\nx = "cuda:0"\n')
    assert text.split("\n")[2:8] == [
        "import torch", "try:", "    import torch_npu  # noqa: F401", "except ImportError:", "    pass", DEVICE,
    ]  # fmt: skip
    assert "accelerator" not in text


def test_that_a_file_without_torch_gets_its_import_with_the_prelude(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", '"""cuda"""\nfrom __future__ import annotations\ndevice = "cuda"\n')
    assert text.split("\n")[2:4] == ["import torch", "try:"]
    assert text.endswith("device = DEVICE_TYPE\n")
    ast.parse(text)


def test_that_a_file_without_torch_keeps_its_first_import_of_python_first(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", 'import os\ndevice = "cuda"\n')
    assert text.startswith("import os\nimport torch\ntry:\n")


def test_that_names_of_the_prelude_do_not_meet_names_of_the_file(tmp_path: Path) -> None:
    source = "import torch\naccelerator = Accelerator()\nDEVICE_TYPE = 1\ntorch.cuda.synchronize()\ny = 'cuda'\n"
    text = migrated_text(tmp_path, "explicit", source)
    assert "device_module.synchronize()" in text
    assert "y = ACCELERATOR_TYPE\n" in text
    assert "accelerator = Accelerator()\nDEVICE_TYPE = 1\n" in text


def test_that_imported_amp_is_told_of_the_device_where_it_is_called(tmp_path: Path) -> None:
    source = (
        "import torch\nfrom torch.cuda.amp import autocast, GradScaler\n"
        "scaler = GradScaler(enabled=True)\nwith autocast():\n    pass\n"
    )
    text = migrated_text(tmp_path, "explicit", source)
    assert "from torch.amp import autocast, GradScaler\n" in text
    assert "scaler = GradScaler(DEVICE_TYPE, enabled=True)\nwith autocast(DEVICE_TYPE):\n" in text


def test_that_imported_amp_that_is_handed_on_keeps_its_signature(tmp_path: Path) -> None:
    source = "import torch\nfrom torch.cuda.amp import GradScaler\nrun(GradScaler)\n"
    text = migrated_text(tmp_path, "explicit", source)
    assert "from torch.cuda.amp import GradScaler\nrun(accelerator.amp.GradScaler)\n" in text


def test_that_an_imported_module_is_replaced_and_its_uses_stay(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", "import torch\nfrom torch import cuda as tc\ntc.synchronize()\n")
    assert text.endswith("tc = accelerator\ntc.synchronize()\n")


def test_that_an_imported_function_is_written_out(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", "import torch\nfrom torch.cuda import synchronize as wait\nwait()\n")
    assert text.endswith("from torch.cuda import synchronize as wait\naccelerator.synchronize()\n")


def test_that_both_words_of_a_map_of_backends_change(tmp_path: Path) -> None:
    source = 'import torch.distributed as dist\ndist.init_process_group("cpu:gloo,cuda:nccl")\n'
    text = migrated_text(tmp_path, "explicit", source)
    assert '"cpu:gloo,npu:hccl" if DEVICE_TYPE == "npu" else "cpu:gloo,cuda:nccl"' in text


def test_that_a_question_for_nccl_asks_for_the_backend_that_is_there(tmp_path: Path) -> None:
    source = 'import torch\nimport torch.distributed as dist\nb = "nccl" if dist.is_nccl_available() else "gloo"\n'
    text = migrated_text(tmp_path, "explicit", source)
    assert 'b = COLLECTIVE_BACKEND if dist.is_backend_available(COLLECTIVE_BACKEND) else "gloo"\n' in text


def test_that_a_class_with_a_cuda_of_its_own_keeps_it_at_its_call_sites(tmp_path: Path) -> None:
    source = (
        "import torch\nclass Batch:\n    def cuda(self):\n        self.x = self.x.cuda(non_blocking=True)\n"
        "        return self\ndef step(batch):\n    return batch.cuda()\nb = Batch().cuda()\n"
    )
    text = migrated_text(tmp_path, "explicit", source)
    assert "self.x = self.x.to(DEVICE_TYPE, non_blocking=True)\n" in text
    assert "return batch.cuda()\nb = Batch().cuda()\n" in text


def test_that_options_and_scripts_change_together(tmp_path: Path) -> None:
    project(
        tmp_path,
        train__py=(
            "import argparse\nimport torch\np = argparse.ArgumentParser()\n"
            'p.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="cuda or cpu")\n'
            'p.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])\n'
        ),
        run__sh="python train.py --device cuda --backend=nccl # cuda\n",
    )
    text = planned_texts(tmp_path, "explicit")
    assert 'default=DEVICE_TYPE, choices=["cuda", "npu", "cpu"], help="cuda or cpu")' in text["train.py"]
    assert 'default=COLLECTIVE_BACKEND, choices=["nccl", "hccl", "gloo"])' in text["train.py"]
    line = "python train.py --device ${DEVICE_TYPE:-npu} --backend=${COLLECTIVE_BACKEND:-hccl} # cuda\n"
    assert text["run.sh"] == line
    groups = {hunk.group for hunk in plan_project(tmp_path, "explicit").hunks() if "--device" in hunk.before}
    assert len(groups) == 1
    assert "option device" in groups.pop()


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.yaml", "device: cuda:0\n"), ("a.json", '{"device": "cuda", "attn_implementation": "flash_attention_2"}')],
)
def test_that_a_configuration_that_holds_one_device_is_only_offered_the_other(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    assert [hunk.state for hunk in plan_project(tmp_path, "explicit").hunks()] == ["offered"]
    assert planned_texts(tmp_path, "explicit") == {}
    assert "npu" in planned_texts(tmp_path, "minimal")[name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "bash -c 'python train.py --device cuda'\n"),
        ("run.sh", "python train.py --accelerator gpu\n"),
        ("train.py", "import os\nos.system('python train.py --device cuda')\n"),
        ("Dockerfile", 'CMD ["python", "train.py", "--device", "cuda"]\n'),
    ],
)
def test_that_a_command_that_can_name_only_one_device_is_only_offered_the_other(
    tmp_path: Path, name: str, text: str
) -> None:
    assert migrated_text(tmp_path, "explicit", text, name) == text
    assert "npu" in migrated_text(tmp_path, "minimal", text, name)
    assert "offered" in {hunk.state for hunk in plan_project(tmp_path, "explicit").hunks()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('o = click.option("--b", type=click.Choice(["nccl", "gloo"]))', '["nccl", "hccl", "gloo"]'),
        ('flags.DEFINE_enum("b", "nccl", ["nccl", "gloo"], "")', 'COLLECTIVE_BACKEND, ["nccl", "hccl", "gloo"]'),
    ],
)
def test_that_choices_of_other_command_lines_take_both_words(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in last_line(tmp_path, line)


def test_that_a_launch_loop_over_ranks_sets_the_devices_of_either_host(tmp_path: Path) -> None:
    loop = (
        "for ((RANK_ID=0; RANK_ID<8; RANK_ID++)); do\n  export DEVICE_ID=$RANK_ID\n"
        "  CUDA_VISIBLE_DEVICES=$DEVICE_ID python train.py &\ndone\n"
        "mpirun -np 2 -x CUDA_VISIBLE_DEVICES python train.py\n"
    )
    text = planned_texts(project(tmp_path, run__sh=loop), "explicit")["run.sh"]
    assert "  ASCEND_RT_VISIBLE_DEVICES=$DEVICE_ID CUDA_VISIBLE_DEVICES=$DEVICE_ID python train.py &\n" in text
    assert "mpirun -np 2 -x CUDA_VISIBLE_DEVICES -x ASCEND_RT_VISIBLE_DEVICES python train.py\n" in text


def test_that_a_variable_in_code_is_set_for_either_host(tmp_path: Path) -> None:
    source = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nimport torch\n'
    text = migrated_text(tmp_path, "explicit", source)
    assert 'os.environ["ASCEND_RT_VISIBLE_DEVICES"] = os.environ["CUDA_VISIBLE_DEVICES"] = "0"\n' in text


@pytest.mark.parametrize(
    ("name", "line", "other"),
    [
        (".env", "CUDA_VISIBLE_DEVICES=0", "ASCEND_RT_VISIBLE_DEVICES=0"),
        ("a/train.env", "CUDA_VISIBLE_DEVICES=0 # cuda", "ASCEND_RT_VISIBLE_DEVICES=0"),
        ("compose.yml", "    - CUDA_VISIBLE_DEVICES=0", "    - ASCEND_RT_VISIBLE_DEVICES=0"),
        ("compose.yml", '    - "CUDA_VISIBLE_DEVICES=0,1"', '    - "ASCEND_RT_VISIBLE_DEVICES=0,1"'),
    ],
)
def test_that_a_list_of_variables_gets_a_line_for_the_other_one(
    tmp_path: Path, name: str, line: str, other: str
) -> None:
    head = "services:\n  a:\n    environment:\n" if name == "compose.yml" else "X=1\n"
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(f"{head}{line}\n")
    text = planned_texts(tmp_path, "explicit")[name]
    assert text == f"{head}{line}\n{other}\n"
    (tmp_path / name).write_text(text)
    assert planned_texts(tmp_path, "explicit") == {}


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            "train.py",
            'os.system("CUDA_VISIBLE_DEVICES=0 a")',
            'os.system("ASCEND_RT_VISIBLE_DEVICES=0 CUDA_VISIBLE_DEVICES=0 a")',
        ),
        ("train.py", 'os.system("CUDA_VISIBLE_DEVICES=%d a" % n)', 'os.system("CUDA_VISIBLE_DEVICES=%d a" % n)'),
        ("tox.ini", "setenv = CUDA_VISIBLE_DEVICES=0", "setenv = CUDA_VISIBLE_DEVICES=0"),
    ],
)
def test_that_a_variable_is_set_twice_only_where_that_is_a_command(
    tmp_path: Path, name: str, line: str, expected: str
) -> None:
    head = "import os\n" if name == "train.py" else "[testenv]\n"
    assert migrated_text(tmp_path, "explicit", f"{head}{line}\n", name) == f"{head}{expected}\n"


def test_that_a_magic_of_a_notebook_sets_one_variable_a_line(tmp_path: Path) -> None:
    book = '{"cells": [{"cell_type": "code", "source": ["%env CUDA_VISIBLE_DEVICES=0\\n", "x = 1"]}], "nbformat": 4}'
    text = planned_texts(project(tmp_path, book__ipynb=book), "explicit")["book.ipynb"]
    assert "".join(json.loads(text)["cells"][0]["source"]) == (
        "%env CUDA_VISIBLE_DEVICES=0\n%env ASCEND_RT_VISIBLE_DEVICES=0\nx = 1"
    )


def test_that_a_variable_stays_where_another_branch_is_for_the_other_one(tmp_path: Path) -> None:
    source = (
        'import os\ndef name(device):\n    if device == "cuda":\n        return "CUDA_VISIBLE_DEVICES"\n'
        '    elif device == "npu":\n        return "ASCEND_RT_VISIBLE_DEVICES"\n'
    )
    assert migrated_text(tmp_path, "minimal", source).endswith(source.partition("\n")[2])


def test_that_what_stands_on_the_line_of_the_import_uses_no_name_that_comes_behind_it(tmp_path: Path) -> None:
    text = migrated_text(tmp_path, "explicit", "import torch; x = torch.zeros(1).cuda()\ny = x.cuda()\n")
    assert text.startswith("import torch; x = torch.zeros(1).cuda()\n")
    assert text.endswith("y = x.to(DEVICE_TYPE)\n")


def test_that_a_call_on_a_line_of_its_own_is_edited_there(tmp_path: Path) -> None:
    source = "import torch\nz = (\n    x\n    .cuda()  # cuda\n    .half()\n)\n"
    text = migrated_text(tmp_path, "explicit", source)
    assert text.endswith("z = (\n    x\n    .to(DEVICE_TYPE)  # cuda\n    .half()\n)\n")


def test_that_types_in_annotations_stay(tmp_path: Path) -> None:
    source = 'import torch\ndef f(s: torch.cuda.Stream, t: "torch.cuda.Event") -> torch.cuda.Event: pass\n'
    assert migrated_text(tmp_path, "explicit", source) == source


def test_that_a_name_with_two_meanings_stays(tmp_path: Path) -> None:
    source = (
        "import torch\nif new:\n    from torch.amp import custom_fwd\nelse:\n"
        "    from torch.cuda.amp import custom_fwd\nf = wrapped(custom_fwd)\n"
    )
    assert migrated_text(tmp_path, "explicit", source) == source


def test_that_a_part_of_amp_keeps_its_signature_where_its_import_stays(tmp_path: Path) -> None:
    source = "import torch\nfrom torch.cuda.amp.grad_scaler import GradScaler\ns = GradScaler(enabled=True)\n"
    text = migrated_text(tmp_path, "explicit", source)
    assert text.endswith("import GradScaler\ns = accelerator.amp.grad_scaler.GradScaler(enabled=True)\n")


def test_that_a_match_takes_both_words(tmp_path: Path) -> None:
    source = 'import torch\nmatch device.type:\n    case "cuda":\n        pass\n'
    for style in ("explicit", "minimal"):
        assert '    case "cuda" | "npu":\n' in migrated_text(tmp_path, style, source)  # type: ignore[arg-type]


def test_that_comments_docstrings_and_messages_stay(tmp_path: Path) -> None:
    source = '"""On cuda."""\nimport torch  # cuda\nprint("cuda")  # cuda\nraise ValueError("no cuda")\n'
    assert migrated_text(tmp_path, "explicit", source) == source


def test_that_a_second_migration_finds_nothing_to_do(tmp_path: Path) -> None:
    project(
        tmp_path,
        train__py=(
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nimport torch\nimport torch.distributed as dist\n'
            'dist.init_process_group("cpu:gloo,cuda:nccl")\nif x.device.type == "cuda":\n    y = x.cuda()\n'
            "torch.cuda.nvtx.range_push('a')\ntorch.cuda.synchronize()\nb = 'nccl'\n"
        ),
        run__sh="export CUDA_VISIBLE_DEVICES=0\n",
    )
    for path, text in planned_texts(tmp_path, "explicit").items():
        (tmp_path / path).write_text(text)
    assert planned_texts(tmp_path, "explicit") == {}


def test_that_what_has_no_edit_is_left_with_its_rule(tmp_path: Path) -> None:
    project(tmp_path, train__py="import torch\nmodel = torch.nn.DataParallel(model)\n")
    (hunk,) = [listed for listed in plan_project(tmp_path, "explicit").hunks() if listed.state == "yours"]
    assert (hunk.rules, hunk.before, hunk.after) == (("dataparallel.used",), hunk.after, hunk.before)


def test_that_a_notebook_stays_json_and_its_cells_are_edited(tmp_path: Path) -> None:
    book = (
        '{"cells": [\n {"cell_type": "code", "source": [\n  "import torch\\n",\n  "x = f(1).cuda()"\n ]},\n'
        ' {"cell_type": "code", "source": "y = torch.ones(1, device=\\"cuda\\")\\n# cuda"}\n], "nbformat": 4}\n'
    )
    text = planned_texts(project(tmp_path, book__ipynb=book), "explicit")["book.ipynb"]
    assert '  "x = f(1).to(DEVICE_TYPE)"\n' in text
    assert '"source": "y = torch.ones(1, device=DEVICE_TYPE)\\n# cuda"}' in text
    assert '  "import torch\\n",\n  "try:\\n",\n  "    import torch_npu' in text


def test_that_a_member_of_an_enumeration_keeps_its_value(tmp_path: Path) -> None:
    source = 'import enum, torch\nclass Kind(enum.Enum):\n    CUDA = "cuda"\n    CPU = "cpu"\n'
    assert migrated_text(tmp_path, "explicit", source) == source


def test_that_flash_attention_stays_on_a_gpu_and_where_it_is_only_asked_for(tmp_path: Path) -> None:
    source = (
        'import torch\nm = AutoModel.from_pretrained(x, attn_implementation="flash_attention_2")\n'
        'if m.config._attn_implementation == "flash_attention_2":\n    pass\n'
    )
    text = migrated_text(tmp_path, "explicit", source)
    assert 'attn_implementation="sdpa" if DEVICE_TYPE == "npu" else "flash_attention_2")\n' in text
    assert 'if m.config._attn_implementation == "flash_attention_2":\n' in text


def test_that_a_function_for_torchscript_gets_no_variable_of_the_module(tmp_path: Path) -> None:
    source = 'import torch\n@torch.jit.script\ndef f(x):\n    return x.to("cuda")\ndef g(x):\n    return x.to("cuda")\n'
    text = migrated_text(tmp_path, "explicit", source)
    assert 'def f(x):\n    return x.to("cuda")\ndef g(x):\n    return x.to(DEVICE_TYPE)\n' in text


def test_that_the_lines_before_a_guarded_import_belong_to_its_cell(tmp_path: Path) -> None:
    guarded = "try:\\n    import torch\\nexcept ImportError:\\n    torch = None\\nx = f(1).cuda()"
    book = f'{{"cells": [{{"cell_type": "code", "source": "a = 1"}}, {{"cell_type": "code", "source": "{guarded}"}}]}}'
    folder = project(tmp_path, book__ipynb=book)
    (prelude,) = [finding for finding in scan_project(folder, FACTS) if finding.rule == "migrate.prelude"]
    assert (prelude.cell, prelude.line, prelude.end) == (1, 1, 1)


def test_that_a_default_of_a_lambda_above_the_import_is_left_to_a_person(tmp_path: Path) -> None:
    source = "f = lambda d='cuda': d\ng = lambda: 'cuda'\nimport torch\n"
    text = migrated_text(tmp_path, "explicit", source)
    assert "f = lambda d='cuda': d\ng = lambda: DEVICE_TYPE\n" in text


@pytest.mark.parametrize("line", ["{} = e = '0'", "({}) = e = '0'", "e = ({}) = '0'", "e = {} = '0'"])
def test_that_a_variable_set_at_the_top_of_a_file_without_imports_is_set_under_both_names(
    tmp_path: Path, line: str
) -> None:
    text = migrated_text(tmp_path, "explicit", line.format("os.environ['CUDA_VISIBLE_DEVICES']") + "\nd = 'cuda'\n")
    ast.parse(text)
    assert "os.environ['ASCEND_RT_VISIBLE_DEVICES'] = " in text
    assert text.endswith("d = DEVICE_TYPE\n")


def test_that_an_edit_with_which_a_file_would_not_parse_leaves_the_other_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIABLES, "CUDA_VISIBLE_DEVICES", "not a 'name")
    text = migrated_text(tmp_path, "explicit", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nd = 'cuda'\n")
    assert "os.environ['CUDA_VISIBLE_DEVICES'] = '0'" in text
    assert text.endswith("d = DEVICE_TYPE\n")


def test_that_uses_of_a_cuda_imported_beside_other_names_are_edited(tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn, cuda\n"
    text = migrated_text(tmp_path, "explicit", f"{head}if cuda.is_available():\n    x = x.cuda()\ncuda.synchronize()\n")
    assert text.endswith("if accelerator.is_available():\n    x = x.to(DEVICE_TYPE)\naccelerator.synchronize()\n")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("lambda storage, loc: storage.cuda(rank)", "torch.device(DEVICE_TYPE, rank)"),
        ("lambda storage, loc: storage.cuda()", "DEVICE_TYPE"),
        ("lambda s, _: s.cuda(0)", "torch.device(DEVICE_TYPE, 0)"),
        ("lambda s, loc: s.cuda(loc)", None),
        ("lambda s, _: s.cuda() if gpu else s", None),
    ],
)
def test_that_where_map_location_moves_a_storage_becomes_a_device_or_is_left_to_a_person(
    tmp_path: Path, location: str, expected: str | None
) -> None:
    line = f'x = torch.load("x.pt", map_location={location})'
    text = migrated_text(tmp_path, "explicit", f"import torch\n{line}\n")
    assert text.splitlines()[-1] == (line if expected is None else line.replace(location, expected))


def test_that_a_function_for_map_location_is_left_to_a_person(tmp_path: Path) -> None:
    text = "import torch\ndef move(a, b):\n    return a.cuda()\ntorch.load('x.pt', map_location=move)\n"
    folder = project(tmp_path, train__py=text)
    assert [hunk.state for hunk in plan_project(folder, "explicit").hunks()] == ["yours"]


@pytest.mark.parametrize("style", ["minimal", "explicit"])
def test_that_the_lines_of_a_notebook_go_into_a_cell_with_a_finding(tmp_path: Path, style: Style) -> None:
    cells = ['"""cuda"""', "import torch.nn as nn", "x = x.cuda()"]
    book = {"cells": [{"cell_type": "code", "source": [cell], "outputs": []} for cell in cells], "nbformat": 4}
    folder = project(tmp_path, book__ipynb=json.dumps(book, indent=1))
    with_finding = {finding.cell for finding in scan_project(folder, FACTS)}
    after = json.loads(planned_texts(folder, style)["book.ipynb"])["cells"]
    changed = {index for index, cell in enumerate(after) if "".join(cell["source"]) != cells[index]}
    assert changed <= with_finding == {1, 2}
    ast.parse("\n".join("".join(cell["source"]) for cell in after))
