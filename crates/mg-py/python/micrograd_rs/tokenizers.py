"""Texts as numbers, and back: by bytes, by characters, and by byte pairs.

`Bytes()`, `Characters(text)` and `BPE` each have `encode` (a text's numbers as a list), `decode` (the text of numbers, a list or a
tensor), `vocab_size`, and make an int64 tensor of a text when they are called. `BPE` is byte-level byte pair encoding as GPT-2 has
it: `BPE.from_file("tokenizer.json")` reads Hugging Face's files, `BPE.from_files("vocab.json", "merges.txt")` GPT-2's,
`BPE.train(texts, vocab_size)` learns one, `save` writes a `tokenizer.json`.

>>> from micrograd_rs.tokenizers import BPE, Characters
>>> letters = Characters("hello")
>>> letters.encode("hole"), letters.decode([1, 0, 2, 2, 3])
([1, 3, 2, 0], 'hello')
>>> bpe = BPE.train(["low lower lowest low low"], vocab_size=260, special_tokens=["<end>"])
>>> bpe.decode(bpe("low lowest<end>")), len(bpe.encode("low lowest<end>"))
('low lowest<end>', 6)
"""

from ._micrograd_rs import BPE, Bytes, Characters
from ._names import Lazy as _Lazy

__all__ = ["BPE", "Bytes", "Characters"]

__getattr__ = _Lazy(__name__)
