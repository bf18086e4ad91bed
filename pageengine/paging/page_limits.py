"""Limits of the pages of one address: page-limit-bytes and page-limit-messages.

Source: docs/spec/paging-engine.md 2.8.
"""

from __future__ import annotations

from pageengine.settings.settings import AddressSettings, PageFullPolicy


class PageLimits:
    """Page limits of one address.

    ``policy`` is None if no limit is set. ``max_pages`` is the number of pages that page-limit-bytes allows, or None;
    a change of settings that removes the limit keeps it. ``messages`` is page-limit-messages, or None. ``reached``: a
    limit is reached, and messages that would go to a page are refused or dropped.
    """

    def __init__(self, *, supported: bool) -> None:
        """Start without limits. ``supported``: whether the edition of the broker has page limits at all."""
        self.supported = supported
        self.policy: PageFullPolicy | None = None
        self.max_pages: int | None = None
        self.messages: int | None = None
        self.reached = False

    def apply_settings(self, settings: AddressSettings, page_size: int, pages: int) -> bool:
        """Apply settings to an address with this number of pages; return whether a limit changed."""
        limit_bytes, limit_messages = settings.page_limit_bytes, settings.page_limit_messages
        policy = settings.page_full_policy if self.supported else None
        limit_bytes = None if limit_bytes is not None and limit_bytes < 0 else limit_bytes
        limit_messages = None if limit_messages is not None and limit_messages < 0 else limit_messages
        if policy is None or (limit_bytes is None and limit_messages is None):
            policy = limit_bytes = limit_messages = None
        self.policy = policy
        messages_changed = limit_messages != self.messages
        self.messages = limit_messages
        pages_changed = False
        if limit_bytes is not None and page_size > 0:
            max_pages = limit_bytes // page_size
            pages_changed = max_pages != self.max_pages
            self.max_pages = max_pages
        if pages_changed:
            self.check_pages(pages)
        return pages_changed or messages_changed

    def has_room(self, pages: int) -> bool:
        """Return whether page-limit-bytes allows another page beyond this number of pages."""
        return self.max_pages is None or pages <= self.max_pages

    def check_pages(self, pages: int) -> None:
        """Note that a limit is reached if there are more pages than page-limit-bytes allows."""
        if not self.has_room(pages):
            self.reached = True

    def check_messages(self, count: int) -> bool:
        """Note that a limit is reached, and return True, if a queue has as many messages as page-limit-messages."""
        if self.messages is None or count < self.messages:
            return False
        self.reached = True
        return True

    def check_end(self, pages: int, count: int) -> bool:
        """Return True, noting that no limit is reached, if neither of them applies any more.

        ``count``: messages in the pages of the queue with the most.
        """
        if not self.has_room(pages) or (self.messages is not None and count >= self.messages):
            return False
        self.reached = False
        return True
