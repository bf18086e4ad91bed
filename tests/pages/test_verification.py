"""Page verdicts against what brokers did with the same directories: read, lost, stopped, or did not start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from editions_of import EDITION_OF
from golden_cases import GoldenCase, cases, damage_verdicts, unpacked
from msgspec import to_builtins
from pagectl.reports.pages_verify import VerifiedPage

from pagefmt.check.broker_verdict import BrokerAction, PageContext
from pagefmt.check.page_reports import PageVerdict, verify_page
from pagefmt.codec.pages.frames import DamageKind
from pagefmt.directory.paging import Store, read_paging, same_addresses
from pagefmt.directory.store_findings import StoreFault, paging_findings, store_findings
from pagefmt.findings import Finding


def verdicts(store: Store, version: str) -> list[PageVerdict]:
    edition, last = EDITION_OF[version], store.current_page
    return [
        verify_page(
            page.path, PageContext(store.name, page.number, page.number == last, len(store.pages) == 1), edition
        )
        for page in store.pages
    ]


def findings(path: Path) -> list[Finding]:
    paging = read_paging(path)
    stores = list(paging.stores())
    found = list(paging_findings(paging, same_addresses(paging)))
    return found + [finding for store in stores for finding in store_findings(store)]


def stores_of(path: Path) -> list[Store]:
    return list(read_paging(path).stores())


DAMAGED_STORES = [
    (archive, item)
    for archive in damage_verdicts("stores")
    for item in json.loads((unpacked(archive) / "verdict.json").read_text("utf-8"))["items"]
]


def item_id(value: Any) -> str:
    return value["name"] if isinstance(value, dict) else value.parent.name


@pytest.mark.parametrize(("archive", "item"), DAMAGED_STORES, ids=item_id)
def test_a_broker_starts_or_stops_as_foretold(archive: Path, item: dict[str, Any]) -> None:
    paging = unpacked(archive) / item["name"] / "data" / "paging"
    actions = {verdict.broker.action for store in stores_of(paging) for verdict in verdicts(store, archive.parent.name)}
    faults = {finding.rule for finding in findings(paging)}
    assert item["started"] == (BrokerAction.NO_START not in actions and StoreFault.BAD_NAME not in faults)
    if item["started"]:
        assert item["stopped_itself"] == (BrokerAction.STOPS in actions)


@pytest.mark.parametrize(("archive", "item"), DAMAGED_STORES, ids=item_id)
def test_pages_of_damaged_stores(archive: Path, item: dict[str, Any]) -> None:
    ours = {store.name: store for store in stores_of(unpacked(archive) / item["name"] / "data" / "paging")}
    for theirs in item.get("stores", []):
        if theirs.get("address") is None:
            continue
        store = ours[theirs["folder"]]
        assert (store.address, store.first_page) == (theirs["address"], theirs["first_page"])
        told = [[page, size, records, read, suspects] for page, size, records, read, suspects, _ in theirs["pages"]]
        found = [to_builtins(VerifiedPage.of_verdict(verdict)) for verdict in verdicts(store, archive.parent.name)]
        keys = ("page", "size", "records", "bytes_read", "suspects")
        listed = [entry for entry in told if entry[0] in {page.number for page in store.pages}]
        assert [[verdict[key] for key in keys] for verdict in found] == listed


FAULTS = {
    "foreign-text": {StoreFault.FOREIGN},
    "foreign-bak": {StoreFault.FOREIGN},
    "foreign-tmp": {StoreFault.FOREIGN},
    "foreign-folder": {StoreFault.FOREIGN},
    "foreign-invalid": {StoreFault.PUT_ASIDE},
    "foreign-page-name": {StoreFault.BAD_NAME},
    "foreign-folder-page": {StoreFault.BAD_NAME},
    "page-unpadded": {StoreFault.OVERLOOKED},
    "page-empty-middle": {StoreFault.EMPTY_PAGE},
    "address-missing": {StoreFault.NO_ADDRESS},
    "address-empty": {StoreFault.NO_ADDRESS},
    "store-doubled": {StoreFault.DUPLICATE},
    "store-stray-folder": {StoreFault.NO_ADDRESS},
    "store-stray-file": {StoreFault.STRAY},
}


@pytest.mark.parametrize(("archive", "item"), DAMAGED_STORES, ids=item_id)
def test_odd_folders_are_named(archive: Path, item: dict[str, Any]) -> None:
    found = findings(unpacked(archive) / item["name"] / "data" / "paging")
    assert {finding.rule for finding in found} == FAULTS.get(item["name"], set())


@pytest.mark.parametrize("case", cases(), ids=str)
def test_golden_stores(case: GoldenCase) -> None:
    manifest = {store["folder"]: store for store in case.manifest()["stores"]}
    for store in stores_of(case.data() / "paging"):
        theirs = manifest[store.name]
        assert store.address == theirs["address"]
        assert [page.name for page in store.pages] == [page["file"] for page in theirs["pages"]]
        for verdict, page in zip(verdicts(store, case.version), theirs["pages"], strict=True):
            told = to_builtins(VerifiedPage.of_verdict(verdict))
            assert all(told[key] == page[key] for key in ("page", "file", "size", "records", "bytes_read", "suspects"))
            assert verdict.sound == (page["bytes_read"] == page["size"])


def test_records_behind_the_damage_are_found() -> None:
    case = GoldenCase("2.17.0", "bad-end")
    damaged = [
        verdict
        for store in stores_of(case.data() / "paging")
        for verdict in verdicts(store, case.version)
        if not verdict.sound
    ]
    [verdict] = damaged
    assert verdict.faults[0].kind is DamageKind.BAD_END
    assert verdict.broker.action is BrokerAction.LOSES_REST
    assert verdict.recovered > 0


def test_an_old_broker_differs_about_a_torn_head() -> None:
    case = GoldenCase("2.17.0", "torn-head")
    verdict = next(
        verdict
        for store in stores_of(case.data() / "paging")
        for verdict in verdicts(store, case.version)
        if not verdict.sound
    )
    assert verdict.broker.action is BrokerAction.IGNORES_TAIL
    older = {other.edition.value: other for other in verdict.others}
    assert older["artemis-2.4"].reading.suspect == (verdict.bytes_read + 1, verdict.records)
