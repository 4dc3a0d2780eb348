"""Makes the tiny model and what its vectors must be.

Run it without arguments; it writes the files beside it, the same ones each time. It needs nothing but Python: tokens
and vectors are computed here by code of its own, from the words of the WordPiece and BERT descriptions, so that
`expected.json` is an independent check of the loader.
"""

import hashlib
import json
import math
import pathlib
import struct
import unicodedata

HERE = pathlib.Path(__file__).parent
DIMENSION = 16
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = """the a an of to and in on is was for with that it roof repair lease tenant landlord warehouse door window
paint rain water leak damage claim court judge letter sign signed signature contract end begin begins month year march
april may june monday friday money pay paid payment rent due late notice cause reason who what when where why how much
many old new good bad high low long short big small north south east west house room floor wall stone wood glass iron
car train ship road river sea coast summer winter spring autumn sun moon star light dark day night morning evening
music violin piano orchestra play plays song dance book page word line read write write paper pen table chair lamp bread
milk salt sugar apple tree leaf flower grass bird fish dog cat horse man woman child friend name city village country
king queen law rule order number one two three four five six seven eight nine ten hundred thousand first second third
cafe naive uber strasse 中 国 海 . , ! ? - ' ( ) 2026 1 2 3""".split()
PIECES = "##s ##ed ##ing ##er ##est ##ly ##ness ##less ##ful ##ment ##house ##able ##al ##ion ##y ##e ##n ##t ##a ##o"
LETTERS = "abcdefghijklmnopqrstuvwxyz"

TEXTS = [
    "The tenant repaired the roof of the warehouse.",
    "the LANDLORD signed a letter",
    "Café naïve über",
    "中国海 2026",
    "rents, payments; lateness!",
    "unknown-ish wörds: zzz \u2603",
    "[UNK] [CLS] x",
    "   \n\t ",
    "",
    "\u2603\u2603",
]
# Long enough to be read in pieces.
LONG = ("roof, repairs ", 5000)


def bits(name, count):
    """Numbers between -1 and 1, from a hash: the same ones everywhere."""
    return [
        struct.unpack("<h", hashlib.sha256(f"{name} {at}".encode()).digest()[:2])[0] / 32768 for at in range(count)
    ]


def is_punctuation(char):
    ascii_sign = 33 <= ord(char) <= 47 or 58 <= ord(char) <= 64 or 91 <= ord(char) <= 96 or 123 <= ord(char) <= 126
    return ascii_sign or unicodedata.category(char).startswith("P")


def words(text):
    """BERT's rules: controls go, Chinese characters stand alone, accents go, signs stand alone."""
    clean = ""
    for char in text:
        if char in "\t\n\r" or unicodedata.category(char) == "Zs":
            clean += " "
        elif char in "\0\ufffd" or unicodedata.category(char).startswith("C"):
            continue
        elif 0x4E00 <= ord(char) <= 0x9FFF:
            clean += f" {char} "
        else:
            clean += char
    parted = unicodedata.normalize("NFD", clean)
    plain = "".join(char for char in parted if unicodedata.category(char) != "Mn").lower()
    return "".join(f" {char} " if is_punctuation(char) else char for char in plain).split()


def pieces(word, vocabulary):
    """The longest known beginning, then the longest known rest, and so on; else the word is unknown."""
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                found.append(vocabulary[piece])
                start = end
                break
        else:
            return []
    return found


def tokens(text, vocabulary):
    """A special token that stands in a text is taken as such; the unknown one is left out."""
    for special in SPECIAL:
        before, found, after = text.partition(special)
        if found:
            own = [] if special == "[UNK]" else [vocabulary[special]]
            return tokens(before, vocabulary) + own + tokens(after, vocabulary)
    return [token for word in words(text) for token in pieces(word, vocabulary)]


def half(number):
    return struct.unpack("<e", struct.pack("<e", number))[0]


def tensors(members):
    """The safetensors format: the length of the header, the header, the numbers."""
    header, data = {}, b""
    for name, (dtype, shape, numbers) in members.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    listed = SPECIAL + WORDS + PIECES.split() + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(listed))}
    rows = [[half(number) for number in bits(word, DIMENSION)] for word in vocabulary]
    weights = [struct.unpack("<f", struct.pack("<f", 1.5 + bits(f"weight {word}", 1)[0]))[0] for word in vocabulary]
    table = b"".join(struct.pack("<e", number) for row in rows for number in row)
    (HERE / "model.safetensors").write_bytes(
        tensors(
            {
                "embeddings": ("F16", [len(rows), DIMENSION], table),
                "weights": ("F32", [len(rows)], b"".join(struct.pack("<f", weight) for weight in weights)),
            }
        )
    )
    special = [
        {"id": at, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for at, word in enumerate(SPECIAL)
    ]
    tokenizer = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    }
    (HERE / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    (HERE / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}) + "\n")
    expected = []
    for text, times in [(text, 1) for text in TEXTS] + [LONG]:
        total = [0.0] * DIMENSION
        for token in tokens(text * times, vocabulary):
            total = [sum_ + weights[token] * number for sum_, number in zip(total, rows[token])]
        length = math.sqrt(math.fsum(number * number for number in total)) or 1.0
        expected.append({"text": text, "times": times, "vector": [number / length for number in total]})
    (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


main()
