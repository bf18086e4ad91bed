"""The form of JSON objects that commands answer with: immutable classes whose fields, in their order, are the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from typing import Union as Either
    from typing import dataclass_transform

    @dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
    class JsonObject:
        """As below; a type checker does not see that the options of a base hold for every class."""

        __struct_fields__: ClassVar[tuple[str, ...]]
        __struct_encode_fields__: ClassVar[tuple[str, ...]]

        def __init_subclass__(cls, *, forbid_unknown_fields: bool = True) -> None:
            """Define the class.

            ``forbid_unknown_fields`` False: an object may have further keys, whose values are texts.
            """
else:

    class _KeywordOnly(type(msgspec.Struct)):
        """The fields of every class below are keywords, so that one with a default may precede others.

        ``kw_only`` of a base does not hold for the fields of a class below it.
        """

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> type:
            return super().__new__(cls, name, bases, namespace, **{"kw_only": True, **options})

    class JsonObject(msgspec.Struct, metaclass=_KeywordOnly, frozen=True, forbid_unknown_fields=True):
        """A JSON object. A key that is not always there has the default ``UNSET``; no other default is used."""

    class Either:
        """A choice, ``Either[A, B]``: an object of one of several classes, which msgspec can write but not describe."""

        def __class_getitem__(cls, classes: tuple[type[JsonObject], ...]) -> Any:
            """Return a type whose schema is a choice of the classes."""
            choice = [{"$ref": f"#/$defs/{member.__name__}"} for member in classes]
            return Annotated[Any, Meta(extra_json_schema={"oneOf": choice}, extra={"classes": classes})]


Count: TypeAlias = Annotated[int, Meta(ge=0)]
__all__ = ["Count", "Either", "JsonObject"]
