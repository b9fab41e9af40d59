"""Windows of a text, character by character, and what a network writes after one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import ascend_studio
import numpy as np

from ascend_engine.failures import Failure

CONTEXT = 64  # characters that the network looks back at
VOCABULARY = 512  # most frequent characters; number 0 stands for all others
UNKNOWN = "\ufffd"

BLOCK = 4 * (CONTEXT + 1)  # characters of the validation set, or learned from, in one piece
VALIDATION_EVERY = 10  # every tenth block is in the validation set
SHORTEST = VALIDATION_EVERY * BLOCK  # characters of a corpus
LONGEST = 16_000_000
EVALUATED = 128  # windows of the validation set at most

SAMPLE = 200  # characters written at the end
TEMPERATURE = 0.8


class Windows:
    """Samples cut from a text: CONTEXT characters, and the same moved on by one as labels."""

    def __init__(self, codes, starts):
        self.codes = codes
        self.starts = starts

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, numbers):
        places = self.starts[numbers][:, None] + np.arange(CONTEXT)
        return self.codes[places], self.codes[places + 1]


class Alphabet:
    """The corpus's own characters by frequency; number 0 is every other one."""

    def __init__(self, text):
        ranked = sorted(Counter(text).items(), key=by_frequency)
        self.characters = UNKNOWN + "".join(character for character, _ in ranked[:VOCABULARY])
        self.numbers = {character: number for number, character in enumerate(self.characters)}

    def __len__(self):
        return len(self.characters)

    def encode(self, text):
        numbers = self.numbers
        return np.fromiter((numbers.get(character, 0) for character in text), np.int32, len(text))

    def decode(self, codes):
        return "".join(self.characters[code] for code in codes)


def by_frequency(item):
    """Most frequent first; among equals by code point, so that every run numbers them alike."""
    character, count = item
    return -count, character


def read_corpus(folder):
    """All *.md and *.txt under `folder`, in the order of their paths.

    Raises Failure `launch.bad_corpus` where the folder cannot be read and
    `launch.corpus_short` where there is too little in it to learn from.
    """
    try:
        paths = text_files(folder)
        text = read_files(paths)
    except OSError as error:
        path = str(error.filename or folder)
        raise Failure("launch.bad_corpus", folder=path, error=str(error.strerror)) from error
    if len(text) < SHORTEST:
        counts = {"files": len(paths), "characters": len(text), "needed": SHORTEST}
        raise Failure("launch.corpus_short", folder=str(folder), **counts)
    return text


def read_files(paths):
    """The files one after the other, up to LONGEST characters in all."""
    text = ""
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as file:
            text += file.read(LONGEST + 1 - len(text)) + "\n"
        if len(text) > LONGEST:
            ascend_studio.note("launch.corpus_cut", file=str(path), used=LONGEST)
            break
    return text[:LONGEST]


def text_files(folder):
    """Hidden folders are left out: they hold tools' files, and earlier runs."""
    paths = []
    for parent, folders, files in os.walk(folder, onerror=raise_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [Path(parent, name) for name in files if is_text(name)]
    return sorted(path for path in paths if path.is_file())


def raise_error(error):
    raise error


def is_text(name):
    return name.lower().endswith((".md", ".txt")) and not name.startswith(".")


def split(codes):
    """Windows to learn from and windows to evaluate, from blocks of their own.

    Blocks throughout the text, since its end may be of another kind (the help
    pages' last language). No window of the training reaches into a block of
    the validation set.
    """
    starts = np.arange(len(codes) - CONTEXT)
    begins_in_validation = starts // BLOCK % VALIDATION_EVERY == VALIDATION_EVERY - 1
    ends_in_validation = (starts + CONTEXT) // BLOCK % VALIDATION_EVERY == VALIDATION_EVERY - 1
    train = starts[~begins_in_validation & ~ends_in_validation]
    validation = starts[begins_in_validation & ends_in_validation & (starts % (CONTEXT + 1) == 0)]
    chosen = np.linspace(0, len(validation) - 1, min(EVALUATED, len(validation))).astype(int)
    return Windows(codes, train), Windows(codes, validation[chosen])


def write_sample(predict, alphabet, prompts, seed, folder):
    """What a network writes after a piece of the validation set, as a file and as a note. `predict`: (1, CONTEXT) int32
    characters -> (vocabulary,) logits of the next."""
    prompt = prompts[np.array([0])][0][0]
    text = alphabet.decode(generate(predict, prompt, seed))
    folder.mkdir(exist_ok=True)
    path = folder / "sample.txt"
    path.write_text(text, "utf-8")
    ascend_studio.artifact("sample", path.absolute())
    ascend_studio.note("launch.sample", text=text)
    print("sample after the training:\n" + text)


def generate(predict, prompt, seed):
    """SAMPLE characters' numbers after the CONTEXT ones of `prompt`."""
    random = np.random.default_rng(seed)
    codes = list(prompt)
    for _ in range(SAMPLE):
        window = np.array([codes[-CONTEXT:]], np.int32)
        logits = predict(window).astype(np.float64) / TEMPERATURE
        logits[0] = -np.inf  # the stand-in for other characters is not worth writing
        weights = np.exp(logits - logits.max())
        codes.append(choose(random, weights))
    return codes[CONTEXT:]


def choose(random, weights):
    """A number with the given weights; the likeliest where a training has gone to NaN."""
    total = weights.sum()
    if not np.isfinite(total):
        return int(np.argmax(np.nan_to_num(weights)))
    return int(random.choice(len(weights), p=weights / total))
