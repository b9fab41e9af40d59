"""Fine-tuning by LoRA: real trainings, of the small decoder and of a folder as Hugging Face writes it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.launch.engine_options import FILE
from studio import paths
from tests.launch.engine_config import options_text_of
from tests.launch.engine_process import FRESH, Ran, finish, start, train
from tests.launch.pytorch.earlier_state import earlier_state
from tests.launch.pytorch.ranks_together import torchrun

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not find_spec("peft") or not find_spec("torch"), reason="no peft here"),
    pytest.mark.filterwarnings("ignore"),
]
LORA = "--framework torch --recipe lora --device cpu --seed 1 --batch 4 --context 64"


@pytest.fixture(autouse=True)
def _single_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def trained(folder: Path, line: str) -> Ran:
    ran = train(folder, line, FRESH)
    assert ran.code == 0, ran.output
    return ran


def weights_of(folder: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    checkpoints = folder / "artifacts" / "checkpoints"
    return dict(load_file(checkpoints / (checkpoints / "last").read_text() / "weights.safetensors"))


def test_that_a_resume_of_only_what_learned_goes_on_bit_for_bit(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", f"{LORA} --steps 12 --accumulate 2 --checkpoint-every 4 --keep 9")
    losses = whole.metric("loss")
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    assert all("lora_" in name for name in weights_of(tmp_path / "whole"))
    assert whole.note("launch.sample")["text"]
    earlier = earlier_state(tmp_path / "whole", tmp_path / "earlier", 4)
    rest = trained(tmp_path / "rest", f"{LORA} --steps 12 --accumulate 2 --resume {earlier}")
    assert rest.note("launch.resumed")["exact"]
    assert rest.metric("loss") == losses[4:]
    first, second = (weights_of(tmp_path / name) for name in ("whole", "rest"))
    assert first.keys() == second.keys()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


def test_that_four_micro_batches_are_one_batch_though_completions_differ_in_length(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", f"{LORA} --steps 5 --batch 8 --optimizer sgd --lr 0.1")
    split = trained(tmp_path / "split", f"{LORA} --steps 5 --batch 2 --accumulate 4 --optimizer sgd --lr 0.1")
    assert np.allclose(whole.metric("loss"), split.metric("loss"), rtol=1e-5)


@pytest.fixture(scope="module")
def base_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_base(tmp_path_factory.mktemp("base"))


def make_base(folder: Path, *, tied: bool = False) -> Path:
    """A folder as Hugging Face writes it: a Llama of two layers with random weights, and a tokenizer of words. `tied`:
    the weights of its embedding are those of its output."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {"<unk>": 0, "<end>": 1} | {word: number for number, word in enumerate("abcdefghijklmnopqrst", 2)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="<end>").save_pretrained(folder)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, tie_word_embeddings=tied,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder, safe_serialization=True)
    return folder


def examples(folder: Path) -> Path:
    rows = [{"prompt": "a b c", "completion": "d e f g"}, {"instruction": "h", "input": "i", "output": "j k"},
            {"text": "l m n o p q"}] * 10  # fmt: skip
    path = folder / "examples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_that_a_local_hugging_face_model_is_tuned_and_its_adapter_is_read_by_peft(
    base_model: Path, tmp_path: Path
) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    line = f"{LORA} --base-model {base_model} --examples {examples(tmp_path)} --context 16 --steps 20 --lr 0.01"
    ran = trained(tmp_path / "run", line)
    assert ran.metric("eval_loss")[-1] < ran.metric("loss")[0]
    base = AutoModelForCausalLM.from_pretrained(base_model, local_files_only=True)
    losses = {}
    for name in ("base", "tuned"):
        sample = torch.tensor([[2, 3, 4, 5, 6, 7, 8, 1]])  # a b c d e f g <end>: the tenth example
        model = base if name == "base" else PeftModel.from_pretrained(base, str(tmp_path / "run/artifacts/adapter"))
        with torch.no_grad():
            logits = model(input_ids=sample[:, :-1]).logits[0]
        losses[name] = float(torch.nn.functional.cross_entropy(logits[2:], sample[0, 3:]))
    assert losses["tuned"] < losses["base"]


def test_that_a_model_with_tied_embeddings_is_tuned_by_fsdp_as_by_one_process(tmp_path: Path) -> None:
    base = make_base(tmp_path / "base", tied=True)
    line = f"{LORA} --base-model {base} --examples {examples(tmp_path)} --context 16 --steps 5 --optimizer sgd --lr 0.1"
    alone = trained(tmp_path / "alone", f"{line} --batch 8")
    folder = tmp_path / "together"
    folder.mkdir()
    (folder / FILE).write_text(options_text_of(f"{line} --parallel fsdp --workers 2 --recompute"), "utf-8")
    ran = finish(folder, start(folder, *torchrun(2, "--tee=3", "-m", "ascend_engine", FILE)))
    assert ran.code == 0, ran.output
    losses = np.array(ran.metric("loss")).reshape(2, 5).mean(0)
    assert np.allclose(losses, alone.metric("loss"), rtol=1e-5)
    first, second = weights_of(folder), weights_of(tmp_path / "alone")
    assert first.keys() == second.keys()
    assert all(np.allclose(first[name], second[name], atol=1e-6) for name in first)


def test_that_a_base_model_whose_weights_would_have_to_be_unpickled_is_refused(
    base_model: Path, tmp_path: Path
) -> None:
    import shutil

    folder = tmp_path / "pickled"
    shutil.copytree(base_model, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    ran = train(tmp_path / "run", f"{LORA} --base-model {folder} --examples {examples(tmp_path)} --steps 2", FRESH)
    assert [finding["rule"] for finding in ran.findings()] == ["launch.base_unreadable"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"prompt": "a"}\n' * 12, "launch.example_wrong"), ("[1]\n" * 12, "launch.example_wrong"),
        ('{"text": "abc"}\n' * 3, "launch.examples_few"), ("\x00\xff" * 40, "launch.example_wrong"),
        (json.dumps({"prompt": "p" * 200, "completion": "c"}) + "\n", "launch.examples_few"),
        ((json.dumps({"prompt": "p" * 200, "completion": "c"}) + "\n") * 20, "launch.examples_cut_away"),
    ],
)  # fmt: skip
def test_that_a_file_of_examples_that_teaches_nothing_is_refused_with_its_line(
    text: str, rule: str, tmp_path: Path
) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(text, "utf-8")
    ran = train(tmp_path / "run", f"{LORA} --examples {path} --steps 2", FRESH)
    assert [finding["rule"] for finding in ran.findings()] == [rule]


@given(st.lists(st.tuples(st.text(max_size=30), st.text(min_size=1, max_size=30)), min_size=10, max_size=30))
def test_that_any_texts_become_samples_whose_labels_are_the_next_tokens(pairs: list[tuple[str, str]]) -> None:
    from ascend_engine.recipe_data.examples import IGNORED, Bytes, tokens_of

    usable = [(prompt, completion.encode("utf-8", "replace").decode()) for prompt, completion in pairs]
    usable = [(prompt.encode("utf-8", "replace").decode(), completion) for prompt, completion in usable]
    learned, evaluated = tokens_of(usable, Bytes().encode, Bytes.end, 256)
    assert len(learned) + len(evaluated) == len(usable)
    inputs, labels = learned[np.arange(len(learned))]
    following = np.concatenate([inputs[:, 1:], np.full((len(inputs), 1), Bytes.end)], axis=1)
    matters = labels != IGNORED
    assert (following[matters] == labels[matters]).all()


def test_that_the_shipped_examples_are_read() -> None:
    from ascend_engine.recipe_data.examples import SHIPPED, read_examples

    assert len(read_examples(paths.ASSETS.joinpath(*SHIPPED))) > 100
