"""Tokenizers: what they learn, read and write is compared with Hugging Face's `tokenizers` where it is installed."""

from __future__ import annotations

import json
import pickle

import micrograd_rs as mg
import pytest
from micrograd_rs.tokenizers import BPE, Bytes, Characters

TEXTS = [
    "The cat's whiskers aren't what they're for; I'll say we've 12 or 345 of them, I'd guess... (I'm sure!)\n",
    "  two spaces,\ttabs\n\n\nlines   \n and trailing  ",
    "naïve café – Straße № ½ ² Ⅷ ١٢٣ 日本語の文章 हिन्दी में ภาษาไทย 🙂👩‍👩‍👧 \u00a0\u2003x",
    "low lower lowest newer newest wider widest low low low newer",
    "aaaaaaaaaaaaaaaa aaaa aaa abababab",
    "x" * 3000,
    "",
]


def test_bytes_and_characters():
    assert Bytes().decode(Bytes().encode(TEXTS[2])) == TEXTS[2] and len(Bytes()) == 256
    letters = Characters("hello wörld")
    assert letters.alphabet == " dehlorwö" and letters.vocab_size == 9
    ids = letters("hold")
    assert ids.dtype == mg.int64 and letters.decode(ids) == "hold" == letters.decode(ids.tolist())
    with pytest.raises(ValueError, match="'x' at character 2 is not in the alphabet"):
        letters.encode("hex")
    for tokenizer, wrong in ((letters, 9), (letters, -1), (Bytes(), 256), (BPE.train("a", 256), 256)):
        with pytest.raises(ValueError, match=f"{wrong} stands for nothing"):
            tokenizer.decode([wrong])
    assert pickle.loads(pickle.dumps(letters)).alphabet == letters.alphabet
    assert pickle.loads(pickle.dumps(Bytes())).encode("a") == [97]
    assert repr(letters) == "Characters(' dehlorwö')" and letters.encode("") == []


def test_bpe_learns_and_gives_back():
    bpe = BPE.train(TEXTS, 300, special_tokens=["<end>", "<end><end>"], min_frequency=2)
    assert bpe.vocab_size <= 300 and (bpe.token_to_id("<end>"), bpe.token_to_id("nothing")) == (0, None)
    for text in TEXTS:
        assert bpe.decode(bpe(text)) == text
    assert bpe.encode("a<end><end><end>b")[1:3] == [1, 0] and bpe.id_to_token(bpe.encode("low")[0]).startswith(b"l")
    assert len(bpe.encode("low low low")) < 11
    # The first byte of a letter of two.
    assert bpe.decode(bpe.encode("é")[:1]) == "\ufffd"
    assert BPE.train(iter(TEXTS), 300).encode("lowest") == BPE.train(tuple(TEXTS), 300).encode("lowest")


def test_files_go_both_ways(tmp_path):
    bpe = BPE.train(TEXTS, 320, special_tokens=["<end>"])
    bpe.save(tmp_path / "t.json")
    again = BPE.from_file(tmp_path / "t.json")
    written = json.loads((tmp_path / "t.json").read_text("utf-8"))["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(written["vocab"]), "utf-8")
    lines = [" ".join(pair) for pair in written["merges"]]
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *lines, ""]), "utf-8")
    older = BPE.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt")
    for text in TEXTS:
        assert bpe.encode(text) == again.encode(text) == older.encode(text)
    again.save(tmp_path / "u.json")
    assert (tmp_path / "u.json").read_bytes() == (tmp_path / "t.json").read_bytes()


def test_as_hugging_faces(tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="compared with the tokenizers package where it is installed")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=340, min_frequency=2, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    theirs.train_from_iterator(TEXTS, trainer)
    ours = BPE.train(TEXTS, 340, special_tokens=["<end>"], min_frequency=2)
    theirs.save(str(tmp_path / "theirs.json"))
    read = BPE.from_file(tmp_path / "theirs.json")
    ours.save(tmp_path / "ours.json")
    back = tokenizers.Tokenizer.from_file(str(tmp_path / "ours.json"))
    for text in [*TEXTS, "".join(TEXTS[:5]), "I<end>'ll <end>"]:
        wanted = theirs.encode(text).ids
        assert read.encode(text) == wanted == ours.encode(text) == back.encode(text).ids, text
        assert read.decode(wanted) == text
    # Every character of the first plane stands in a word as it does there.
    for start in range(0x20, 0xD7C0, 64):
        text = "a" + "".join(f" {chr(c)}a{chr(c)}1{chr(c)}." for c in range(start, start + 64))
        assert read.encode(text) == theirs.encode(text).ids, hex(start)


WRONG = {
    "no JSON": ("{", "no JSON"),
    "no vocab": ("{}", "there is no vocab"),
    "another model": ('{"model": {"type": "Unigram"}}', 'type "Unigram"'),
    "a normalizer": ('{"normalizer": {"type": "NFC"}, "model": {"vocab": {}}}', "normalizer"),
    "no bytes": ('{"model": {"type": "BPE", "byte_fallback": true, "vocab": {}}}', "not of bytes"),
    "no pre_tokenizer": ('{"model": {"vocab": {"a": 0}}}', "no pre_tokenizer"),
    "another pre_tokenizer": ('{"model": {"vocab": {}}, "pre_tokenizer": {"type": "Metaspace"}}', "Metaspace"),
    "a large number": ('{"model": {"vocab": {"a": 4294967296}}}', 'token "a"'),
    "a negative number": ('{"model": {"vocab": {"a": -1}}}', 'token "a"'),
    "no pair": ('{"model": {"vocab": {"a": 0}, "merges": ["a"]}, "pre_tokenizer": {"type": "ByteLevel"}}', "merge 0 is no pair"),
    "unknown pair": ('{"model": {"vocab": {"a": 0}, "merges": [["a", "a"]]}, "pre_tokenizer": {"type": "ByteLevel"}}', "merge 0 joins"),
    "an added token": ('{"model": {"vocab": {}}, "added_tokens": [{"id": 0}], "pre_tokenizer": {"type": "ByteLevel"}}', "added token"),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_make_no_sense(name, tmp_path):
    text, words = WRONG[name]
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        BPE.from_file(tmp_path / "t.json")


def test_what_else_is_refused(tmp_path):
    with pytest.raises(OSError, match="missing.json"):
        BPE.from_file(tmp_path / "missing.json")
    (tmp_path / "t.json").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="no UTF-8"):
        BPE.from_file(tmp_path / "t.json")
    with pytest.raises(ValueError, match="vocab_size from 257 on"):
        BPE.train("a", 256, special_tokens=["<end>"])
    with pytest.raises(TypeError):
        BPE.train([1], 300)
    (tmp_path / "t.json").write_text('{"model": {"vocab": {"a": 0}}, "pre_tokenizer": {"type": "ByteLevel"}}')
    with pytest.raises(ValueError, match="no number for byte 98"):
        BPE.from_file(tmp_path / "t.json").encode("b")
