"""Secrets in a command reach the program and are kept nowhere."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import StudioError
from studio.security import secret_words
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2-Swordfish"


@pytest.mark.parametrize(
    "words",
    [
        ("train.py", "--token", SECRET),
        ("train.py", f"--password={SECRET}"),
        ("train.py", f"--hub.api-key={SECRET}"),
        ("env", f"HF_TOKEN={SECRET}", "train.py"),
        ("sh", "-c", f"WANDB_API_KEY={SECRET} python train.py"),
        ("train.py", "--header", f"Authorization: Bearer {SECRET}"),
        ("git", "clone", f"https://me:{SECRET}@host.example/x.git"),
        ("train.py", "sk-hunter2-Swordfish"),
        ("sh", "-c", f"HF_TOKEN='{SECRET}' true"),
        ("sh", "-c", f'export API_KEY=\\"{SECRET}\\"; true'),
        ("sh", "-c", f"python x.py --token {SECRET} --steps 3"),
        ("train.py", "--accessToken", SECRET),
        ("env", f"DB_PASS={SECRET}", "train.py"),
        ("curl", "-H", f"X-Auth-Token: {SECRET}"),
        ("curl", "-d", f'{{"api_key": "{SECRET}"}}'),
        ("git", "clone", f"https://{SECRET}@host.example/x.git"),
        ("curl", "-u", f"me:{SECRET}", "https://host.example"),
        ("curl", f"--user=me:{SECRET}", "https://host.example"),
        ("sh", "-c", f"curl --user 'me:{SECRET}' https://host.example"),
        ("train.py", "--pw", SECRET),
        ("train.py", "--AK", SECRET),
        ("train.py", "--obs-sk", SECRET),
        ("train.py", "--wandb_key", SECRET),
        ("train.py", "--bearer", SECRET),
        ("java", f"-Dpassword={SECRET}", "-jar", "x.jar"),
        ("train.py", "password:", SECRET),
        ("curl", f"https://host.example/x?token={SECRET}"),
        ("curl", f"https://host.example/x?a=b&sig={SECRET}"),
        ("train.py", f"sqlite:///x?password={SECRET}"),
        ("curl", "-H", f"Cookie: session={SECRET}"),
        ("train.py", f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----"),
        ("train.py", "--密码", SECRET),
        ("train.py", f"--口令={SECRET}"),
        ("sh", "-c", f'TOKEN="first {SECRET}" true'),
        ("sh", "-c", f"train --password='first {SECRET}' --lr 1"),
        ("bash", "-c", f"bash -c 'HF_TOKEN={SECRET} true'"),
    ],
)
def test_that_a_secret_in_a_line_is_replaced_and_put_back(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    masked, kept = secret_words.mask({"program": {"line": list(words), "count": 3}})
    assert SECRET not in str(masked)
    monkeypatch.setenv(secret_words.VARIABLE, json.dumps(kept))
    assert secret_words.restore(masked) == {"program": {"line": list(words), "count": 3}}
    assert secret_words.VARIABLE not in os.environ


@pytest.mark.parametrize(
    "words",
    [
        ("train.py", "--pad-token", "<pad>", "--eos_token_id", "2", "--max-tokens", "2048"),
        ("train.py", "--use-auth-token", "--epochs", "3"),
        ("train.py", "--eos-token=[EOS]", "--auth", "none", "--lr=1e-3", "--tokenizer", "gpt2"),
        ("git", "clone", "https://host.example/x.git", "a:b@c"),
        ("docker", "run", "-u", "1000:1000", "--user", "0:0", "image"),
        ("train.py", "--tokenizer-path", "x", "--pad-token-id=50256", "--token-type", "word", "--data", "a=b:c"),
    ],
)
def test_that_what_only_sounds_like_a_secret_stays(words: tuple[str, ...]) -> None:
    assert secret_words.masked_words(words) == words


@pytest.mark.parametrize("value", ["20241105", "$ecret9988", "-dashkey771", "<anglekey1"])
def test_that_whatever_a_password_looks_like_is_masked(value: str) -> None:
    assert value not in str(secret_words.masked_words(("train.py", "--password", value)))
    assert value not in str(secret_words.masked_words(("train.py", f"--password={value}")))


def test_that_a_secret_in_the_value_of_a_variable_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"environment": {"env": {"FOO": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "LEVEL": "3"}}}
    masked, kept = secret_words.mask(values)
    assert masked["environment"]["env"]["LEVEL"] == "3"
    assert "ghp_" not in str(masked)
    monkeypatch.setenv(secret_words.VARIABLE, json.dumps(kept))
    assert secret_words.restore(masked) == values


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="‹\0"), max_size=30), max_size=6))
def test_that_any_line_comes_back_as_it_was(words: list[str]) -> None:
    masked, kept = secret_words.mask({"program": {"line": words}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(secret_words.VARIABLE, json.dumps(kept))
        assert secret_words.restore(masked)["program"]["line"] == words


def test_that_a_placeholder_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    masked, _ = secret_words.mask({"program": {"line": ["--token", SECRET]}})
    with pytest.raises(StudioError, match="secret"):
        secret_words.mask(masked)
    monkeypatch.delenv(secret_words.VARIABLE, raising=False)
    with pytest.raises(StudioError, match="secret"):
        secret_words.restore(masked)


def test_that_a_secret_reaches_the_program_and_no_file_of_the_run(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    assert shell
    script = tmp_path / "train.sh"
    script.write_text('[ "$2" = hunter2-Swordfish ] && exit 0; exit 9\n')
    done = studio("launch", "--json", "--", shell, str(script), "--token", SECRET, cwd=tmp_path)
    answer = last_json(done)
    assert answer["code"] == 0, done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != script]
    assert not [path for path in files if re.search(SECRET.encode(), path.read_bytes())]
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("word", ["a=" * 20_000, "a" * 200_000, "a.b-" * 50_000, "x='" * 20_000])
def test_that_a_long_word_is_read_once(word: str) -> None:
    assert secret_words.masked_words((word, "--token", SECRET)) == (word, "--token", "‹secret-1›")
