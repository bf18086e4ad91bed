"""Files of ``broker.properties`` from a seed, sound ones and changed ones, as ``.properties``, JSON and YAML.

``python tests/support/property_files.py FOLDER [SOUND MUTANTS]`` writes them. A sound file is made of sections that
brokers of 2.44 and 2.56 take; a mutant has one to three changes of a key, a value or the text.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from brokerconf.schema.beans import ROOT, BeanProperty, beans

from pagefmt.editions import Edition

Path_ = tuple[str, ...]
Pairs = list[tuple[Path_, str]]
NAMES = ("orders", "stock", "eu.orders", "eu.orders.#", "#", "a.*.b", "audit-log", "Kunden.2024", "queue_1", "x")
KINDS = ("properties", "json", "yaml")
# the recorded files know nothing of beans that a class is named for
BY_CLASS = re.compile("ActiveMQ.*Plugin|.*BroadcastEndpointFactory")


def known_beans(edition: Edition) -> dict[str, dict[str, BeanProperty]]:
    """Return the beans of an edition, without those that are named after a class."""
    return {
        owner: {name: one._replace(made=BY_CLASS.sub("", one.made)) for name, one in of.items()}
        for owner, of in beans(edition).items()
        if not BY_CLASS.fullmatch(owner)
    }


BEANS = known_beans(Edition.ARTEMIS_2_56)
COMMON = known_beans(Edition.ARTEMIS_2_44)
# keys that end a start in an empty configuration, or that change how others are read
LEFT_OUT = {
    "name",
    "configurationUrl",
    "status",
    "brokerInstance",
    "systemPropertyPrefix",
    "brokerPropertiesKeySurround",
    # these need another one beside them, or a small number
    "pageLimitBytes",
    "pageLimitMessages",
    "pageFullMessagePolicy",
    "globalMaxSizePercentOfJvmMaxMemory",
}


def scalars(random: Random) -> Pairs:
    """Draw settings of the broker itself."""
    known = [one for one in COMMON[ROOT].values() if one.access == "rw" and one.name not in LEFT_OUT and not one.odd]
    known = [one for one in known if one.type in ("int", "long", "boolean") or one.words]
    picked = random.sample(known, random.randint(1, 5))
    return [((one.name,), good_value(one.type, random)) for one in picked] + [
        (("maxDiskUsage",), str(random.randint(50, 95))),
        (("name",), random.choice(NAMES[:2])),
    ]


def good_value(kind: str, random: Random) -> str:
    """Draw a value that every reader accepts for a type."""
    if "|" in kind:
        return random.choice(kind.split("|"))
    if kind in ("boolean", "Boolean"):
        return random.choice(("true", "false", "true", "yes", "off", "TRUE"))
    if kind == "long":
        return random.choice(("60000", "10M", "1G", "100 KiB", "5000", "10485760"))
    if kind in ("double", "Double"):
        return random.choice(("1.5", "2", "0.25"))
    if kind == "char":
        return "/"
    return random.choice(("1000", "60000", "7")) if kind in ("int", "Integer", "Long") else random.choice(NAMES[:2])


def address_settings(random: Random) -> Pairs:
    """Draw address settings."""
    found: Pairs = []
    known = [one for one in COMMON["AddressSettings"].values() if one.access == "rw" and one.name not in LEFT_OUT]
    for match in random.sample(NAMES, random.randint(1, 3)):
        for one in random.sample(known, random.randint(1, 5)):
            found.append((("addressSettings", match, one.name), good_value(one.type, random)))
    return found


def transports(random: Random) -> Pairs:
    """Return entries of acceptors and connectors."""
    factory = "org.apache.activemq.artemis.core.remoting.impl.netty.Netty{}Factory"
    found: Pairs = []
    for n, name in enumerate(random.sample(("artemis", "amqp", "in-vm.1"), random.randint(1, 2))):
        base = ("acceptorConfigurations", name)
        found.append(((*base, "factoryClassName"), factory.format("Acceptor")))
        found.append(((*base, "params", "port"), str(61616 + n)))
        found.append(((*base, "params", "host"), "localhost"))
        if random.random() < 0.5:
            found.append(((*base, "extraParams", "protocols"), "AMQP,CORE"))
    base = ("connectorConfigurations", "other")
    found += [((*base, "factoryClassName"), factory.format("Connector")), ((*base, "params", "port"), "61616")]
    return found


def addresses(random: Random) -> Pairs:
    """Return entries of addresses and their queues."""
    found: Pairs = []
    for name in random.sample(NAMES[:3], random.randint(1, 2)):
        base = ("addressConfigurations", name)
        found.append(((*base, "routingTypes"), random.choice(("ANYCAST", "ANYCAST,MULTICAST"))))
        queue = (*base, "queueConfigs", name)
        found.append(((*queue, "routingType"), "ANYCAST"))
        found.append(((*queue, "durable"), "true"))
        if random.random() < 0.5:
            found.append(((*queue, "maxConsumers"), "5"))
    return found


def others(random: Random) -> Pairs:
    """Return entries of one of the other collections."""
    base: Path_
    which = random.randrange(9)
    if which == 0:
        base = ("divertConfigurations", "copy.1")
        return [((*base, "address"), "orders"), ((*base, "forwardingAddress"), "audit"), ((*base, "exclusive"), "true")]
    if which == 1:
        role = ("securityRoles", "#", "amq")
        return [((*role, right), "true") for right in random.sample(("send", "consume", "browse", "manage"), 2)]
    if which == 2:
        policy = random.choice(("SHARED_STORE_PRIMARY", "SHARED_STORE_BACKUP"))
        return [(("HAPolicyConfiguration",), policy), (("HAPolicyConfiguration", "failoverOnServerShutdown"), "true")]
    if which == 3:
        base = ("AMQPConnections", "target")
        found = [((*base, "uri"), "tcp://remote:5672"), ((*base, "retryInterval"), "55")]
        return [*found, ((*base, "connectionElements", "mirror", "type"), "MIRROR")]
    if which == 4:
        return [(("metricsConfiguration", "jvmThread"), "true"), (("metricsConfiguration", "nettyPool"), "true")]
    if which == 5:
        return [(("wildcardConfiguration", "delimiter"), "/"), (("wildcardConfiguration", "anyWords"), "#")]
    if which == 6:
        base = ("connectionRouters", "sharding")
        found = [((*base, "keyType"), "CLIENT_ID"), ((*base, "localTargetFilter"), "NULL|a")]
        return [
            *found,
            ((*base, "policyConfiguration"), "CONSISTENT_HASH_MODULO"),
            ((*base, "policyConfiguration", "properties", "modulo"), "2"),
        ]
    if which == 7:
        base = ("resourceLimitSettings", "joe")
        return [((*base, "maxConnections"), "5"), ((*base, "maxQueues"), "10")]
    base = ("clusterConfigurations", "cc")
    found = [((*base, "connectorName"), "other"), ((*base, "messageLoadBalancingType"), "ON_DEMAND")]
    return [*found, ((*base, "retryInterval"), "500"), ((*base, "staticConnectors"), "other,third")]


def sound(random: Random) -> Pairs:
    """Draw settings from several sections, each key once."""
    found = scalars(random) + address_settings(random)
    for part in (transports, addresses, others, others):
        if random.random() < 0.6:
            found += part(random)
    return list(dict(found).items())


# how a file is written


def escaped(text: str, *, key: bool) -> str:
    """Escape a key or value for a ``.properties`` file."""
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    text = "".join(c if c.isascii() else "".join(f"\\u{ord(c):04x}") for c in text)
    if key:
        return re.sub(r"([ =:])", r"\\\1", re.sub(r"^([#!])", r"\\\1", text))
    return re.sub(r"^ ", r"\\ ", text)


def joined(path: Path_) -> str:
    """Join the steps of a path to one key; steps that contain a dot are quoted."""
    return ".".join(f'"{step}"' if "." in step else step for step in path)


def as_properties(pairs: Pairs, random: Random) -> str:
    """Write the pairs as a properties file with some comments, blank lines and continued lines."""
    lines = []
    for path, value in pairs:
        between = random.choice(("=", "=", "=", " = ", ": ", "  "))
        line = f"{escaped(joined(path), key=True)}{between if value else '='}{escaped(value, key=False)}"
        if random.random() < 0.05:
            cut = line.find("=") + 1 or len(line)
            line = f"{line[:cut]}\\\n    {line[cut:]}"
        lines += ["# a comment"] * (random.random() < 0.1) + [""] * (random.random() < 0.1) + [line]
    return "\n".join(lines) + "\n"


def tree(pairs: Pairs) -> dict[str, object]:
    """Nest the pairs in objects, leaving out pairs below a key that itself has a value."""
    found: dict[str, object] = {}
    valued = {path for path, _ in pairs}
    for path, value in pairs:
        at: dict[str, object] = found
        for n, step in enumerate(path[:-1]):
            below = at.get(step)
            if path[: n + 1] in valued or (below is not None and not isinstance(below, dict)):
                break
            at = at.setdefault(step, {})  # type: ignore[assignment]
        else:
            if not isinstance(at.get(path[-1]), dict):
                at[path[-1]] = value
    return found


def as_json(pairs: Pairs, random: Random) -> str:
    """Write the pairs as JSON, sometimes with indentation, escapes or unquoted numbers and booleans."""
    return json.dumps(bare(tree(pairs), random), indent=random.choice((None, 2)), ensure_ascii=random.random() < 0.5)


def bare(found: object, random: Random) -> object:
    """Replace some texts by the boolean or integer that they denote."""
    if isinstance(found, dict):
        return {key: bare(value, random) for key, value in found.items()}
    if random.random() < 0.6 and found in ("true", "false"):
        return found == "true"
    if random.random() < 0.6 and re.fullmatch(r"-?(0|[1-9][0-9]{0,15})", str(found)):
        return int(str(found))
    return found


def as_yaml(pairs: Pairs, random: Random) -> str:
    """Write the pairs as nested YAML mappings, with quotes if they are needed, and sometimes if not."""
    return "".join(yaml_lines(tree(pairs), 0, random))


def yaml_lines(found: dict[str, object], depth: int, random: Random) -> Iterator[str]:
    """Yield the YAML lines of a nested mapping."""
    for key, value in found.items():
        shown = yaml_scalar(key, random)
        if isinstance(value, dict):
            yield f"{'  ' * depth}{shown}:\n" if value else f"{'  ' * depth}{shown}: {{}}\n"
            yield from yaml_lines(value, depth + 1, random)
        else:
            yield f"{'  ' * depth}{shown}: {yaml_scalar(str(value), random)}\n"


def yaml_scalar(text: str, random: Random) -> str:
    """Write a YAML scalar, mostly plain if that is unambiguous, otherwise quoted."""
    plain = re.fullmatch(r"[A-Za-z0-9/](?:[\w./-]| (?! |#))*(?<! )", text) and text not in ("null", "true", "false")
    if plain and random.random() < 0.9:
        return text
    return json.dumps(text) if random.random() < 0.5 or "'" in text or not text.isprintable() else f"'{text}'"


WRITERS: dict[str, Callable[[Pairs, Random], str]] = {"properties": as_properties, "json": as_json, "yaml": as_yaml}

# what is changed

BAD_VALUES = (
    "",
    " ",
    "10M",
    "10 MB",
    "1.5G",
    "1T",
    "-1M",
    "99999999999G",
    "99999999999",
    "2147483648",
    "-1",
    "0",
    "00",
    "0x10",
    "#10",
    "+7",
    " 7",
    "7 ",
    "7L",
    "1e3",
    "1,000",
    "1_000",
    "ten",
    "t",
    "T",
    "true ",
    " true",
    "TRUE",
    "Yes",
    "on",
    "y",
    "Y",
    "no",
    "n",
    "off",
    "False",
    "enabled",
    "page",
    "PAGE",
    "BLOCK ",
    "block",
    "ANYCAST",
    "anycast",
    "a=b",
    "a=b,c=d",
    "a=b,c",
    "a,b",
    "a=b=c",
    "=",
    "-",
    "x.class",
    "org.apache.activemq.artemis.Missing.class",
    "${NO_SUCH_VARIABLE}",
    "${NO_SUCH_VARIABLE:5}",
    "tcp://localhost:61616",
    "DATABASE",
    "FILE",
    "SHARED_STORE_PRIMARY",
    "PRIMARY_ONLY",
    "NaN",
    "1d",
    "1.0",
    ".5",
    "0x1p3",
    "null",
    "1\u00a0000",
    "\u0665",
    "k=v,",
    ",",
    "a=,b=c",
)
BAD_NAMES = ("orders.eu", "a(b)", "a[0]", "a b", "a:b", "a=b", "\u00e4", "", "*", "name", "a.b.c", "x.class")


def misspelt(word: str, random: Random) -> str:
    """Misspell a word in one random way."""
    if not word:
        return "x"
    at = random.randrange(len(word))
    slips = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:1].swapcase() + word[1:],
        word + "s",
        re.sub("([a-z])([A-Z])", lambda m: f"{m[1]}-{m[2].lower()}", word),
        word.lower(),
        word[:-1],
        f" {word}",
    )
    return random.choice(slips)


def any_path(random: Random) -> Path_:
    """Draw a path of properties through the beans, up to six levels deep."""
    owner, path = ROOT, []
    for _ in range(6):
        rows = [one for one in BEANS[owner].values() if not one.name.startswith("=")]
        deep = [one for one in rows if one.made.strip("-")]
        one = (
            random.choice(deep) if deep and random.random() < (0.75 if owner == ROOT else 0.35) else random.choice(rows)
        )
        path.append(random.choice(NAMES) if one.name == "*" else one.name)
        if not one.made.strip("-"):
            break
        if one.name != "*" and one.type in ("List", "Set", "Map") and random.random() < 0.9:
            path.append(random.choice(NAMES))
        if random.random() < 0.08:
            break
        owner = one.made
    return tuple(path)


def change_value(pairs: Pairs, random: Random) -> None:
    at = random.randrange(len(pairs))
    pairs[at] = pairs[at][0], random.choice(BAD_VALUES)


def change_key(pairs: Pairs, random: Random) -> None:
    at = random.randrange(len(pairs))
    path, value = list(pairs[at][0]), pairs[at][1]
    step = random.randrange(len(path))
    path[step] = misspelt(path[step], random)
    pairs[at] = tuple(path), value


def change_name(pairs: Pairs, random: Random) -> None:
    deep = [at for at, (path, _) in enumerate(pairs) if len(path) > 2]
    if deep:
        at = random.choice(deep)
        path = pairs[at][0]
        pairs[at] = (path[0], random.choice(BAD_NAMES), *path[2:]), pairs[at][1]


def cut_path(pairs: Pairs, random: Random) -> None:
    at = random.randrange(len(pairs))
    path, value = pairs[at]
    pairs[at] = path[: random.randint(1, len(path))] if random.random() < 0.7 else (*path, "more"), value


def add_any(pairs: Pairs, random: Random) -> None:
    for _ in range(random.randint(1, 3)):
        path = any_path(random)
        pairs.insert(random.randrange(len(pairs) + 1), (path, random.choice((*BAD_VALUES, "5", "true", "x"))))


def add_good(pairs: Pairs, random: Random) -> None:
    path = any_path(random)
    owner = next((owner for owner in BEANS if path[-1] in BEANS[owner]), ROOT)
    kind = BEANS[owner][path[-1]].type if path[-1] in BEANS[owner] else "String"
    pairs.insert(random.randrange(len(pairs) + 1), (path, good_value(kind, random)))


def take_away(pairs: Pairs, random: Random) -> None:
    path, _ = random.choice(pairs)
    pairs.insert(random.randrange(len(pairs) + 1), (path[: random.randint(1, len(path))], "-"))


def twice(pairs: Pairs, random: Random) -> None:
    path, value = random.choice(pairs)
    pairs.append((path, random.choice((value, *BAD_VALUES[:12], "5"))))


def other_marks(pairs: Pairs, random: Random) -> None:
    which, value = random.choice(
        (("key.surround", "'"), ("key.surround", "$"), ("remove.value", "none"), ("key.surround", '"'))
    )
    pairs.insert(random.randrange(len(pairs) + 1), ((which,), value))


CHANGES = (
    change_value,
    change_value,
    change_value,
    change_key,
    change_key,
    change_name,
    cut_path,
    add_any,
    add_any,
    add_good,
    add_good,
    take_away,
    twice,
    other_marks,
)


def change_text(text: str, kind: str, random: Random) -> str:
    """Make one random error in the text of a file."""
    lines = text.split("\n")
    at = random.randrange(max(1, len(lines) - 1))
    if kind == "properties":
        slips: tuple[str, ...] = (
            "\ufeff" + text,
            text.replace('"', "", 1),
            text.replace('"', "", 2),
            text.replace("\\:", ":", 1),
            "\n".join([*lines[:at], "name=\\u12", *lines[at:]]),
            "\n".join([*lines[:at], f"#\\u12{lines[at]}", *lines[at + 1 :]]),
            text.replace("=", " ", 1),
            text.replace("=", "", 1),
            text.replace("=", ":=", 1),
            text.replace("\n", "\r\n"),
            "\n".join([*lines[:at], lines[at] + "\\", *lines[at + 1 :]]),
            text.replace('"', "'"),
            text.replace("\n", " \n"),
            text + "addressSettings.#.maxSizeBytes=ENC(notHex)\n",
            text.replace(".", "..", 1),
            text + "\\",
            text + "=5\n",
        )
        return random.choice(slips)
    if kind == "json":
        slips = (
            "\ufeff" + text,
            text.replace("}", ",}", 1),
            "// x\n" + text,
            text.replace('"', "'"),
            text[:-1],
            text + "x",
            re.sub(r': "([^"]*)"', ": null", text, count=1),
            re.sub(r': "([^"]*)"', r': ["\1", 5]', text, count=1),
            re.sub(r'"name": "(\w+)"', r'"name": "\1", "name": "b"', text),
            text.replace(":", "=", 1),
            text.replace("true", "True", 1),
            re.sub(r": (\d+)", r": 0\1", text, count=1),
            re.sub(r": (\d+)", r": \1.0", text, count=1),
            re.sub(r": (\d+)", r": \1e2", text, count=1),
            f"[{text}]",
            "",
            text.replace('",', '" ,\n\n'),
            re.sub(r'"(\w+)": \{', r'"\1.x": {', text, count=1),
        )
        return random.choice(slips)
    slips = (
        "\ufeff" + text,
        "\t" + text,
        text.replace("  ", "\t", 1),
        text + "---\nname: b\n",
        "---\n" + text,
        text + "name: b\n",
        text.replace("'", "", 1),
        text.replace('"', ""),
        re.sub(r"(?m)^(\w+):", r"\1.x:", text, count=1),
        re.sub(r": (\w+)\n", r": [\1, 5]\n", text, count=1),
        re.sub(r": (\w+)\n", r":\n", text, count=1),
        re.sub(r": (\w+)\n", r": ~\n", text, count=1),
        text.replace(": ", ":", 1),
        "# x\n" + text,
        "- x\n" + text,
        text + "5: x\n",
        text + "true: x\n",
        text + "bad\n",
        re.sub(r": (\d+)\n", r": \1.0\n", text, count=1),
        re.sub(r": (\w+)\n", r": {a: b}\n", text, count=1),
        "x: &a\n  maxSizeBytes: 5\n" + text + "y: *a\n",
        "",
    )
    return random.choice(slips)


def sound_file(seed: int) -> tuple[str, bytes]:
    """Return name and bytes of a sound file."""
    random = Random(f"sound {seed}")
    kind = KINDS[seed % 3]
    pairs = sound(random)
    if kind != "properties":
        # a tree has no key with a value as well as keys below
        pairs = [one for one in pairs if one[0][0] not in ("HAPolicyConfiguration", "connectionRouters")]
    return f"sound-{seed:03}.{kind}", WRITERS[kind](pairs, random).encode("utf-8")


def mutant(seed: int) -> tuple[str, bytes]:
    """Return name and bytes of a changed file."""
    random = Random(f"mutant {seed}")
    kind = KINDS[seed % 3] if seed % 2 else "properties"
    pairs = sound(random)
    if random.random() < 0.5:
        pairs = random.sample(pairs, min(len(pairs), 4))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(CHANGES)(pairs, random)
    text = WRITERS[kind](pairs, random)
    if random.random() < 0.2:
        text = change_text(text, kind, random)
    return f"mutant-{seed:03}.{kind}", text.encode("utf-8", "surrogatepass")


def write_all(folder: Path, sounds: int, mutants: int) -> None:
    """Write ``sounds`` sound files and ``mutants`` mutated ones to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [*map(sound_file, range(sounds)), *map(mutant, range(mutants))]
    for name, raw in made:
        (folder / name).write_bytes(raw)


if __name__ == "__main__":
    counts = [int(word) for word in sys.argv[2:]] or [40, 300]
    write_all(Path(sys.argv[1]), *counts)
