"""A call for every exit status of every command, on directories, configurations, traces and logs of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from golden_cases import GoldenCase

ROOT = Path(__file__).resolve().parents[2]
# command, status, the words behind the command; {…} are files of the world below
CALLS: list[tuple[str, int, str]] = [
    ("config lint", 0, "{sound}"),
    ("config lint", 1, "{wrong}"),
    ("config lint", 2, "{folder}/nowhere.xml"),
    ("config effective", 0, "{sound} orders"),
    ("config effective", 2, "{folder}/nowhere.xml orders"),
    ("config explain", 0, "page-size-bytes"),
    ("config explain", 2, "page-size-byte"),
    ("config rules", 0, ""),
    ("config rules", 2, "--format sarif"),
    ("config serve", 2, "--heap much"),
    ("config diff", 0, "{sound} {sound}"),
    ("config diff", 1, "{sound} {other}"),
    ("config diff", 2, "{sound}"),
    ("config convert", 0, "{sound} --to yaml"),
    ("config convert", 1, "{wrong} --to json --anyway"),
    ("config convert", 2, "{sound} --to toml"),
    ("config drift", 0, "{news}"),
    ("config drift", 1, "{candlepin}"),
    ("config drift", 2, "{alone}"),
    ("config capacity", 0, "{sound} --heap 2G"),
    ("config capacity", 2, "{sound} --heap much"),
    ("export", 2, "{news} --to {folder}"),
    ("pages ls", 0, "{news}"),
    ("pages ls", 1, "{torn}"),
    ("pages ls", 2, "{folder}/nowhere"),
    ("messages top", 0, "{news} {candlepin} --every 0.2"),
    ("messages top", 1, "{torn}"),
    ("messages top", 2, "{news} {folder}/nowhere"),
    ("messages check", 0, "{news}"),
    ("messages check", 1, "{torn}"),
    ("messages check", 2, "{news} -c messages=10"),
    ("messages check", 3, "{alone}"),
    ("pages outstanding", 0, "{news}"),
    ("pages outstanding", 1, "{torn}"),
    ("pages outstanding", 2, "{alone}"),
    ("messages find", 0, "{news} --where seq=20"),
    ("messages find", 1, "{torn} --expired"),
    ("messages find", 2, "{news}"),
    ("pages decode", 0, "{news} --limit 1"),
    ("pages decode", 1, "{torn}"),
    ("pages decode", 2, "{news} --where ="),
    ("messages ls", 0, "{news}"),
    ("messages ls", 1, "{torn}"),
    ("messages ls", 2, "{folder}/nowhere"),
    ("messages verify", 0, "{news}"),
    ("messages verify", 1, "{torn}"),
    ("messages verify", 2, "{folder}/nowhere"),
    ("messages decode", 0, "{news} --limit 1"),
    ("messages decode", 1, "{torn}"),
    ("messages decode", 2, "{news} --where ="),
    ("messages xml", 0, "{news}"),
    ("messages xml", 1, "{torn}"),
    ("messages xml", 2, "{alone}"),
    ("messages import-plan", 0, "{exported}"),
    ("messages import-plan", 1, "{lossy}"),
    ("messages import-plan", 2, "{sound}"),
    ("messages send", 0, "{news} --to amqp://localhost --dry-run"),
    ("messages send", 1, "{torn} --to amqp://localhost --dry-run"),
    ("messages send", 2, "{news} --to http://localhost"),
    ("pages verify", 0, "{news}"),
    ("pages verify", 1, "{torn}"),
    ("pages verify", 2, "{news} --manifest {sound}"),
    ("pages seal", 0, "{news}"),
    ("pages seal", 2, "{news} --to {pages}/seal"),
    ("pages browse", 2, "{news}"),
    ("pages inspect", 0, "{news} --page 12"),
    ("pages inspect", 1, "{torn}"),
    ("pages inspect", 2, "{news} --page 99"),
    ("pages compact", 0, "{news}"),
    ("pages compact", 1, "{torn}"),
    ("pages compact", 2, "{news} --no-backup"),
    ("pages salvage", 0, "{mended} --out {folder}/saved"),
    ("pages salvage", 1, "{torn} --out {folder}/out"),
    ("pages salvage", 2, "{news} --out {folder}/out"),
    ("pages restore", 0, "{compacted}"),
    ("pages restore", 2, "{news}"),
    ("pages drop-backup", 0, "{compacted_too}"),
    ("pages drop-backup", 2, "{news}"),
    ("journal ls", 0, "{news}"),
    ("journal ls", 1, "{lost}"),
    ("journal ls", 2, "{alone}"),
    ("messages trace", 0, "{news} --id 23"),
    ("messages trace", 1, "{cut} --id 23"),
    ("messages trace", 2, "{news}"),
    ("journal stats", 0, "{news}"),
    ("journal stats", 1, "{cut}"),
    ("journal stats", 2, "{alone}"),
    ("journal inspect", 0, "{news} --type ADD_REF"),
    ("journal inspect", 1, "{cut}"),
    ("journal inspect", 2, "{news} --file nowhere.amq"),
    ("journal verify", 0, "{news}"),
    ("journal verify", 1, "{lost}"),
    ("journal verify", 2, "{alone}"),
    ("journal compact", 0, "{news}"),
    ("journal compact", 1, "{lost}"),
    ("journal compact", 2, "{news} --no-backup"),
    ("recover", 0, "{news}"),
    ("recover", 1, "{torn} --out {folder}/recovered"),
    ("recover", 2, "{alone}"),
    ("large ls", 0, "{news}"),
    ("large ls", 1, "{bodiless}"),
    ("large ls", 2, "{alone}"),
    ("large verify", 0, "{news}"),
    ("large verify", 1, "{bodiless}"),
    ("large verify", 2, "{alone}"),
    ("queue drop", 0, "{news} none.news --out {folder}/dropped"),
    ("queue drop", 1, "{torn} torn"),
    ("queue drop", 2, "{news} nobody --out {folder}/dropped"),
    ("queue purge", 0, "{news} none.news --all --out {folder}/purged"),
    ("queue purge", 1, "{torn} torn --all"),
    ("queue purge", 2, "{news} none.news --out {folder}/purged"),
    ("convert", 0, "{news} --edition artemis-2.56 --out {folder}/converted"),
    ("convert", 1, "{torn} --edition artemis-2.56"),
    ("convert", 2, "{news}"),
    ("disk check", 0, "{folder} --any-path --max-disk-usage 100 -w 100"),
    ("disk check", 1, "{folder} --any-path --max-disk-usage 100 -w 0:0"),
    ("disk check", 2, "{folder} --any-path --max-disk-usage 100 -c 0:0"),
    ("disk check", 3, "{folder} --max-disk-usage much"),
    ("disk watch", 2, "{folder}"),
    ("disk forecast", 0, "{folder} --any-path --max-disk-usage 100 --state {folder}/samples"),
    ("disk forecast", 3, "{folder}/nowhere"),
    ("disk exporter", 2, "{news} --listen nowhere"),
    ("disk usage", 0, "{news}"),
    ("disk usage", 2, "{folder}/nowhere"),
    ("replay run", 0, "{trace} --config {sound}"),
    ("replay run", 1, "{odd} --config {sound}"),
    ("replay run", 2, "{trace} --config {folder}/nowhere.xml"),
    ("replay import", 0, "{log} --to {folder}/imported.jsonl"),
    ("replay import", 1, "{info_log} --to {folder}/part.jsonl"),
    ("replay import", 2, "{sound} --to {folder}/imported.jsonl"),
    ("replay generate", 0, "steady --to {folder}/steady.jsonl --messages 3"),
    ("replay generate", 2, "sideways --to {folder}/steady.jsonl"),
    ("replay compare", 0, "{trace} --config {sound} --config {sound}"),
    ("replay compare", 1, "{trace} --config {sound} --config {small}"),
    ("replay compare", 2, "{trace}"),
    ("replay sweep", 0, "{trace} --config {sound} --vary #:max-size-bytes=1M"),
    ("replay sweep", 1, "{odd} --config {sound} --vary #:max-size-bytes=1M"),
    ("replay sweep", 2, "{trace} --config {sound} --vary #:max-size-bytes"),
    ("replay advise", 0, "{trace} --config {sound} --heap 64M --disk 1G"),
    ("replay advise", 1, "{trace} --config {sound} --heap 64K --disk 1K"),
    ("replay advise", 2, "{trace} --config {sound} --heap 64M"),
    ("completion", 0, "bash"),
    ("completion", 2, "tcsh"),
]


def make_world(folder: Path, run: Callable[..., int]) -> dict[str, Path]:
    """Write what calls of every status need: directories, configurations, traces and a log.

    ``run`` is the program. Return the paths by name.
    """
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(folder)], check=True)
    news, torn = folder / "news", folder / "torn"
    found = {"folder": folder, "news": news, "torn": torn, "pages": news / "data" / "paging"}
    found["candlepin"] = folder / "candlepin"
    found |= {name: folder / f"{name}.xml" for name in ("sound", "wrong", "other", "small")}
    found["sound"].write_text(configuration("<max-size-bytes>10M</max-size-bytes>"))
    found["other"].write_text(configuration("<max-size-bytes>11M</max-size-bytes>"))
    found["small"].write_text(configuration("<max-size-bytes>20K</max-size-bytes>"))
    found["wrong"].write_text(configuration("<max-size-byte>10M</max-size-byte>"))
    found |= {name: folder / f"{name}.jsonl" for name in ("trace", "odd")}
    assert run("replay", "generate", "slow-consumer", "--to", found["trace"], "--messages", "200") == 0
    lines = found["trace"].read_text("utf-8").splitlines()
    found["odd"].write_text("\n".join([*lines, '{"op":"something-new","t":999999999999}']) + "\n")
    found["log"] = ROOT / "tests" / "recorded" / "replays" / "traffic-logs" / "audit-message.log.gz"
    found["info_log"] = found["log"].with_name("plugin-info.log.gz")
    found["alone"] = shutil.copytree(found["pages"], folder / "alone")
    for name in ("compacted", "compacted_too"):
        found[name] = GoldenCase("2.56.0", "scattered-acks").copy(folder / name)
        assert run("pages", "compact", found[name], "--in-place") == 0
    found |= {"exported": folder / "exported.xml", "lossy": folder / "lossy.xml"}
    assert run("messages", "xml", news, "--to", found["exported"]) == 0
    found["lossy"].write_text(found["exported"].read_text("utf-8").replace('type="integer"', "", 1), "utf-8")
    found["lost"] = with_a_byte_changed(shutil.copytree(news, folder / "lost"), "activemq-data-1.amq", 20)
    found["cut"] = with_a_byte_changed(shutil.copytree(news, folder / "cut"), "activemq-data-1.amq", 33)
    found["bodiless"] = GoldenCase("2.56.0", "large-core").copy(folder / "bodiless")
    shutil.rmtree(found["bodiless"] / "large-messages")
    found["mended"] = with_a_byte_changed(shutil.copytree(news, folder / "mended"), "*000000003.page", -1)
    return found


def with_a_byte_changed(copy: Path, file: str, offset: int) -> Path:
    """Invert a byte of a file; at offset -1 of a page, this is the end mark of the last record."""
    path = next(copy.rglob(file))
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)
    return copy


def configuration(setting: str) -> str:
    return (
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>'
        f'<address-setting match="#">{setting}<address-full-policy>PAGE</address-full-policy>'
        "<dead-letter-address>DLQ</dead-letter-address><expiry-address>EQ</expiry-address></address-setting>"
        '</address-settings><addresses><address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>'
        '<address name="EQ"><anycast><queue name="EQ"/></anycast></address></addresses></core></configuration>\n'
    )
