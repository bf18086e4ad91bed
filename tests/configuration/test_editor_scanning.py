"""Texts that are being written: positions, what stands around a place, and markup made well-formed."""

from __future__ import annotations

import random

import pytest
from brokerconf.editor.diagnostics import changed_part
from brokerconf.editor.scanning import Checkpoints, CursorPlace, MarkupContext, cursor_at, mended, siblings_after
from brokerconf.editor.text import Caret, EditedText
from brokerconf.schema.schema_facts import holding_elements
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

TEXTS = st.text(st.sampled_from("ab\r\n\t\U0001f600\xe9<>/\"'=&!-? "), max_size=60)


@given(TEXTS, st.data())
def test_positions_lead_back_to_their_offsets(text: str, data: st.DataObject) -> None:
    edited = EditedText(text)
    offset = data.draw(st.integers(0, len(text)))
    caret = edited.caret(offset)
    inside_a_line_end = text[offset - 1 : offset + 1] == "\r\n" or (offset and text[offset - 1 : offset + 1] == "\r\n")
    assert edited.offset(*caret) == (offset - 1 if inside_a_line_end else offset)
    assert (
        caret.character
        == len(text[:offset].encode("utf-16-le")) // 2
        - len(text[: edited.offset(caret.line, 0)].encode("utf-16-le")) // 2
    )


@given(TEXTS, TEXTS, st.data())
def test_edits_are_those_of_the_editor(text: str, new: str, data: st.DataObject) -> None:
    edited = EditedText(text)
    ends = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    start, stop = (edited.caret(offset) for offset in ends)
    first, last = edited.offset(*start), edited.offset(*stop)
    assert edited.edited(start, stop, new).text == text[:first] + new + text[last:]
    assert edited.edited(stop, start, new).text == text[:first] + new + text[last:]


def test_positions_beyond_the_text_and_within_a_pair_are_taken_for_their_neighbours() -> None:
    text = EditedText("a\U0001f600b\nc")
    assert [text.offset(0, n) for n in (0, 1, 2, 3, 4, 99)] == [0, 1, 2, 2, 3, 3]
    assert (text.offset(99, 0), text.offset(-1, -1), text.offset(1, 99)) == (5, 0, 5)
    assert EditedText("x\ud800y").text == "x?y"


@given(TEXTS, TEXTS)
def test_the_changed_part_is_all_that_differs(old: str, new: str) -> None:
    first, last = changed_part(old, new)
    behind = len(old) - last
    assert old[:first] == new[:first] and old[last:] == (new[len(new) - behind :] if behind else "")
    assert first <= len(new) - behind


def scanned(marked: str) -> tuple[MarkupContext, str]:
    offset = marked.index("|")
    text = marked.replace("|", "", 1)
    found = cursor_at(text, offset)
    return found, text[found.start : found.stop]


@pytest.mark.parametrize(
    ("marked", "place", "path", "word"),
    [
        ("<a><b>1</b><c|</a>", CursorPlace.ELEMENT, ["a"], "c"),
        ("<a><|", CursorPlace.ELEMENT, ["a"], ""),
        ("<a>\n <b|\n <c/></a>", CursorPlace.ELEMENT, ["a"], "b"),
        ("<a><x:b><|", CursorPlace.ELEMENT, ["a", "b"], ""),
        ("<a></|", CursorPlace.END, ["a"], ""),
        ("<a></a|>", CursorPlace.END, ["a"], "a"),
        ("<a><b |", CursorPlace.ATTRIBUTE, ["a"], ""),
        ('<a><b x="1" y|>', CursorPlace.ATTRIBUTE, ["a"], "y"),
        ('<a><b x="|', CursorPlace.ATTRIBUTE_VALUE, ["a"], ""),
        ('<a><b x="|>\n<c/></a>', CursorPlace.ATTRIBUTE_VALUE, ["a"], ">"),
        ("<a><b x='1|2' y='3'/>", CursorPlace.ATTRIBUTE_VALUE, ["a"], "12"),
        ("<a>NI|O</a>", CursorPlace.TEXT, ["a"], "NIO"),
        ("<a><b></c></b>|", CursorPlace.TEXT, ["a"], ""),
        ("<a><!-- <b|", CursorPlace.NOTHING, ["a"], ""),
        ("<a><!-- --> |</a>", CursorPlace.TEXT, ["a"], ""),
        ("<a><![CDATA[<b|]]></a>", CursorPlace.NOTHING, ["a"], ""),
        ("|", CursorPlace.TEXT, [], ""),
    ],
)
def test_what_stands_around_a_place(marked: str, place: CursorPlace, path: list[str], word: str) -> None:
    cursor, found = scanned(marked)
    assert (cursor.place, cursor.path, found) == (place, path, word)


def test_siblings_before_and_behind() -> None:
    cursor, _ = scanned("<a><b/><b/><b/><c>1</c><|</a>")
    assert cursor.around[-1].children == ("b", "b", "c")
    assert siblings_after("<d><e/></d><f/></a><g/>", 0) == ["d", "f"]


def test_checkpoints_change_no_answer() -> None:
    text = "<a>" + "<b><c>1</c></b>" * 5000 + "</a>"
    checkpoints = Checkpoints()
    cursor_at(text, len(text), checkpoints)
    assert len(checkpoints.known) > 3
    for offset in range(1, len(text), 997):
        assert cursor_at(text, offset, checkpoints) == cursor_at(text, offset)
    edited = text[:40_000] + "<x>" + text[40_000:]
    kept = checkpoints.until(40_000)
    assert cursor_at(edited, 60_000, kept) == cursor_at(edited, 60_000)


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("<a><b", "<a></a>  "),
        ("<a><b>1\n<c>2</c></a>", "<a><b>1\n</b><c>2</c></a>"),
        ("<core><name>1</name></configuration>", "<core><name>1</name>                </core>"),
        (
            "<configuration><core><name>1</name></configuration>",
            "<configuration><core><name>1</name></core></configuration>",
        ),
        ("<a>&<b/></a>", "<a> <b/></a>"),
        ('<a b="1" <c/></a>', '<a b="1"><c/></a>'),
        ('<a b="1" c b="2"><c/></a>', '<a b="1"        ><c/></a>'),
        ("<a></b></a>", "<a>    </a>"),
        ("<a/><b/>", "<a/>    "),
        ("<a><!-- x</a>", "<a>     x</a>"),
        ("<a>well &amp; good<![CDATA[<]]></a>", "<a>well &amp; good<![CDATA[<]]></a>"),
    ],
)
def test_broken_markup_is_mended(broken: str, whole: str) -> None:
    assert mended(broken, holding_elements()).text == whole
    etree.fromstring(whole)


def test_offsets_lead_back_past_what_was_put_in() -> None:
    text = "<a><b>1\n<c>2</c></a>"
    whole = mended(text, ())
    assert whole.text[whole.text.index("<c") :][:3] == text[whole.back(whole.text.index("<c")) :][:3]
    assert whole.back(2) == 2


def test_sound_markup_stays_and_most_of_the_rest_can_be_parsed() -> None:
    sound = "".join(
        f'<address-setting match="a.{n}"><max-size-bytes>{n}M</max-size-bytes></address-setting>\n' for n in range(20)
    )
    sound = f"<configuration><core><!-- x --><address-settings>{sound}</address-settings></core></configuration>"
    chance = random.Random(11)
    containers = holding_elements()
    broken = failed = 0
    for _ in range(400):
        text = sound
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(len(text))
            if chance.random() < 0.5:
                text = text[:at] + text[at + chance.randint(1, 9) :]
            else:
                text = text[:at] + chance.choice(["<", ">", '"', "/", "&", "<ab", "</core>", "<x y="]) + text[at:]
        whole = mended(text, containers).text
        try:
            etree.fromstring(text)
            assert whole == text
        except etree.XMLSyntaxError:
            broken += 1
            try:
                etree.fromstring(whole)
            except etree.XMLSyntaxError:
                failed += 1
    assert broken > 200 and failed < broken * 0.15


HOSTILE = [
    "<" * 100_000, "<a " * 50_000, '<a b="' * 30_000, "<a>" * 50_000, "</a>" * 50_000, "&" * 100_000, "<!--" * 50_000,
    "<a " + '"' * 100_000, "<a>" * 20_000 + "</b>" * 20_000, "<a" + " " * 100_000 + ">", "<a " + "b " * 50_000 + ">",
    "<a " + "b= " * 50_000 + ">", "<?" * 50_000, "<![CDATA[" * 30_000, '<a b="' + " x" * 50_000,
]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: str(text[:6]))
def test_hostile_markup_does_not_hold_up(text: str) -> None:
    mended(text, ())
    cursor_at(text, len(text))
    siblings_after(text, 0)


def test_carets_are_plain_pairs() -> None:
    assert EditedText("a\r\nb").caret(3) == Caret(1, 0) == (1, 0)
