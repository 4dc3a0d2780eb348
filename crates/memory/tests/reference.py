"""The memory read as its contract words it, slow and obvious: the reference that the product is compared with.

Reads one case per line from standard input, {"input": ..., "cwd": ...}, and prints one package or error per line.
"""
import hashlib, json, os, re, sys, unicodedata
from datetime import datetime, timezone, timedelta
from decimal import Decimal, ROUND_HALF_EVEN
from fractions import Fraction

# Unicode White_Space, which is neither str.isspace() nor \s.
WHITE = set(map(chr, [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
                      0x205F, 0x3000]))


def trim(text):
    start, end = 0, len(text)
    while start < end and text[start] in WHITE:
        start += 1
    while end > start and text[end - 1] in WHITE:
        end -= 1
    return text[start:end]


def words(text):
    out, word = [], ""
    for char in text:
        if char in WHITE:
            if word:
                out.append(word)
            word = ""
        else:
            word += char
    return out + ([word] if word else [])


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Bad(Exception):
    pass


class Number:
    """A number as it was written."""

    def __init__(self, text):
        self.text = text


def es6(value):
    """A double as ECMAScript prints it."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, digits)).rstrip("0") or "0"
    point = len("".join(map(str, Decimal(repr(value)).as_tuple().digits))) + exponent
    minus = "-" if sign else ""
    if 0 < point <= 21:
        body = digits.ljust(point, "0") if len(digits) <= point else digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        rest = digits[1:]
        body = digits[0] + ("." + rest if rest else "") + "e" + ("+" if point > 0 else "-") + str(abs(point - 1))
    return minus + body


def canonical(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, Number):
        exact = Fraction(Decimal(value.text))
        double = float(Decimal(value.text))
        if double in (float("inf"), float("-inf")):
            raise Bad
        printed = es6(double)
        if Fraction(Decimal(printed)) != exact:
            raise Bad
        return printed
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return es6(value)
    if isinstance(value, str):
        out = '"'
        for char in value:
            short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
            out += short.get(char) or (("\\u%04x" % ord(char)) if ord(char) < 0x20 else char)
        return out + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Bad
    return dict(pairs)


def refuse(_):
    raise Bad


def number(text):
    if len(text) > 1000:
        raise Bad
    return Number(text)


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def parse(line):
    try:
        text = line.decode("utf-8")
        if text.startswith("\ufeff"):
            raise Bad
        value = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=refuse, parse_int=number,
                           parse_float=number)
        json.dumps(value, default=lambda n: None, ensure_ascii=False).encode("utf-8")  # a lone surrogate has no UTF-8
        if depth(value) > 128:
            raise Bad
        return value
    except (ValueError, RecursionError):
        raise Bad


TIME = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$", re.ASCII)


# In seconds.
CYCLE = 146097 * 86400
YEAR_0 = -62167219200
YEAR_10000 = 253402300800


def instant(text):
    """Nanoseconds since 1970, or None."""
    found = TIME.match(text)
    if not found or len(text) > 64 or text != text.rstrip("\n"):
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, zone = found.group(7) or ".0", found.group(8)
    nanos = int(fraction[1:10].ljust(9, "0"))
    offset = 0
    if zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 60 + minutes) * 60 * (1 if zone[0] == "+" else -1)
    try:
        # Python knows no year 0; the calendar repeats itself every 400 years.
        base = datetime(year if year >= 400 else year + 400, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    seconds = (base - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1) - offset
    if year < 400:
        seconds -= CYCLE
    # Its offset may carry a time out of the years that have four digits: then nothing can be written for it.
    return seconds * 10**9 + nanos if YEAR_0 <= seconds < YEAR_10000 else None


def stamp(nanos):
    seconds, fraction = divmod(nanos, 10**9)
    early = seconds < YEAR_0 + CYCLE
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds + (CYCLE if early else 0))
    year, *rest = moment.timetuple()[:6]
    text = "%04d-%02d-%02dT%02d:%02d:%02d" % (year - (400 if early else 0), *rest)
    tail = ("." + "%09d" % fraction).rstrip("0").rstrip(".")
    return text + tail + "Z"


def record(line):
    """The normal form, or raises with what can be read of the id."""
    known = ""
    try:
        value = parse(line)
        if not isinstance(value, dict) or not isinstance(value.get("memory_id"), str):
            raise Bad
        known = value["memory_id"]
        if known == "" or not isinstance(value.get("text"), str):
            raise Bad
        tags, refs, ts = value.get("tags", []), value.get("refs", []), value.get("ts_utc")
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise Bad
        if not isinstance(refs, list) or not all(isinstance(ref, dict) for ref in refs):
            raise Bad
        if ts is not None and not isinstance(ts, str):
            raise Bad
        at = instant(ts) if ts is not None else None
        tags = sorted({trim(tag).lower() for tag in tags} - {""}, key=lambda tag: tag.encode())
        normal = {"memory_id": known, "refs": refs, "tags": tags, "text": value["text"],
                  "ts_utc": None if at is None else stamp(at)}
        return normal, at, sha(canonical(normal).encode())
    except Bad:
        raise Bad(known)


def rounded(score):
    return float(Decimal(score).quantize(Decimal("0.000001"), rounding=ROUND_HALF_EVEN))


def clean(path):
    parts = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and path.startswith("/") and not parts:
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts) or "."


def read(asked, cwd):
    normal = " ".join(words(asked["query"])).lower()
    scoring, trust = asked.get("scoring", {}), asked.get("trust_filter", {})
    given = scoring.get("query_terms")
    terms = [trim(term).lower() for term in given] if given is not None else [t for t in words(normal) if len(t) >= 2]
    terms = [term for at, term in enumerate(terms) if term and term not in terms[:at]]
    most = asked["budget"]["max_excerpt_tokens"]
    each = min(asked["budget"].get("per_item_max_excerpt_tokens", most), most)
    items = asked["budget"].get("max_items", 50)
    now = instant(asked["now_utc"]) if asked.get("now_utc") is not None else None
    denied = set()
    if trust.get("trust_snapshot_path") is not None:
        with open(os.path.join(cwd, trust["trust_snapshot_path"])) as file:
            for entry in json.load(file)["entries"]:
                if entry["classification"] in trust.get("deny_classifications", ["malicious"]):
                    denied |= {("id", entry.get("memory_id")), ("hash", entry.get("record_hash"))}
    dropped, candidates = [], []
    for path in sorted({clean(path) for path in asked["store_paths"]}, key=lambda path: path.encode()):
        with open(os.path.join(cwd, path), "rb") as file:
            data = file.read()
        lines = data.split(b"\n")
        for place, line in enumerate(lines):
            if place < len(lines) - 1 and line.endswith(b"\r"):
                line = line[:-1]
            try:
                if trim(line.decode("utf-8")) == "":
                    continue
            except UnicodeDecodeError:
                pass
            try:
                normalised, at, digest = record(line)
            except Bad as bad:
                known = bad.args[0] if bad.args else ""
                dropped.append((known, sha(line), path, "invalid_record_schema"))
                continue
            known = normalised["memory_id"]
            if ("id", known) in denied or ("hash", digest) in denied:
                dropped.append((known, digest, path, "trust_denied"))
                continue
            lower = normalised["text"].lower()
            score = sum(term in lower for term in terms)
            if scoring.get("enable_tag_overlap", True):
                score += 0.5 * sum(term in normalised["tags"] for term in terms)
            if scoring.get("enable_recency_weight", False) and now is not None and at is not None:
                days = max(now - at, 0) / (86400 * 10**9)
                score += 0.5 ** (days / scoring.get("recency_half_life_days", 30))
            score = rounded(score)
            excerpt = trim(normalised["text"]).encode()[:each * 4].decode("utf-8", "ignore")
            order = (-score, at is None, -(at or 0), path.encode(), known.encode(), digest)
            candidates.append((order, known, digest, path, score, excerpt, -(-len(excerpt.encode()) // 4)))
    candidates.sort(key=lambda candidate: candidate[0])
    selected, used, stopped = [], 0, None
    for _, known, digest, path, score, excerpt, tokens in candidates:
        if stopped is None and len(selected) >= items:
            stopped = "max_items_reached"
        if stopped is None and used + tokens > most:
            stopped = "budget_exhausted"
        if stopped is not None:
            dropped.append((known, digest, path, stopped))
            continue
        used += tokens
        selected.append({"memory_id": known, "record_hash": digest, "store_path": path, "score": score,
                         "excerpt": excerpt, "excerpt_tokens": tokens})
    package = {
        "query": {"raw": asked["query"], "query_hash": sha(normal.encode())},
        "budget": {"max_excerpt_tokens": most, "used_excerpt_tokens": used, "remaining_excerpt_tokens": most - used,
                   "per_item_max_excerpt_tokens": each, "max_items": items},
        "selection": {"selected": selected,
                      "dropped": [dict(zip(("memory_id", "record_hash", "store_path", "reason"), one))
                                  for one in dropped]},
    }
    package["package_hash"] = sha(canonical({**package, "controller_version": "phase6-v1"}).encode())
    package["controller_version"] = "phase6-v1"
    return ordered(package)


def ordered(value):
    """JSON with members in the order they are in, numbers as canonical JSON prints them."""
    if isinstance(value, dict):
        return "{" + ",".join(canonical(key) + ":" + ordered(member) for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(ordered, value)) + "]"
    return canonical(value)


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    for case in sys.stdin.buffer:
        asked = json.loads(case)
        sys.stdout.buffer.write(read(asked["input"], asked["cwd"]).encode() + b"\n")
        sys.stdout.buffer.flush()
