"""A second opinion on tokenizers in the manner of Llama 2's: SentencePiece itself.

Trains a BPE model with byte fallback on text made from a seed, and prints one JSON object:
{"pieces": [[piece, score, kind], ...] by id, "cases": [[text, ids], ...]}, kind being "normal",
"byte", "control" or "unknown". Needs Debian's python3-sentencepiece.
"""

import io
import json
import random
import sys

import sentencepiece


def word(rng, letters):
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 9)))


def kind(model, piece):
    if model.is_byte(piece):
        return "byte"
    if model.is_control(piece):
        return "control"
    return "unknown" if model.is_unknown(piece) else "normal"


def main():
    rng = random.Random(int(sys.argv[1]))
    words = [word(rng, "etaoinshrdlué") for _ in range(300)] + [word(rng, "abcжшя世界") for _ in range(60)]
    spaces = [" "] * 8 + ["  ", "   ", "    "]
    ends = ["", "", "", ".", ",", "!", "123"]

    def sentence(length):
        return "".join(
            words[int(len(words) * rng.random() ** 3)] + rng.choice(ends) + rng.choice(spaces)
            for _ in range(length)
        )

    model_file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([sentence(rng.randint(3, 20)) for _ in range(1500)]),
        model_writer=model_file,
        model_type="bpe",
        vocab_size=900,
        byte_fallback=True,
        character_coverage=0.999,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=True,
        allow_whitespace_only_pieces=True,
        split_digits=True,
        num_threads=1,
        minloglevel=3,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=model_file.getvalue())

    odd = ["\t", "\n", "\r\n", "\U0001F600", "👩‍👩‍👧", "\u00a0", "\u0000", "q", "Ω", "世", " ", "     ", "7", "▁"]

    def text():
        bits = []
        for _ in range(rng.randint(0, 12)):
            bits.append(rng.choice(odd) if rng.random() < 0.4 else sentence(rng.randint(1, 3)))
        return "".join(bits)

    texts = ["", " ", "  ", " a", "\t a"] + [text() for _ in range(1500)]
    ids = range(model.get_piece_size())
    json.dump(
        {
            "pieces": [[model.id_to_piece(i), model.get_score(i), kind(model, i)] for i in ids],
            "cases": [[each, model.encode(each)] for each in texts],
        },
        sys.stdout,
    )


main()
