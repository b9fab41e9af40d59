"""The set-up on a bare Debian 12, from nothing to the window and to green tests."""

from tests.prove.support.debian_machine import bare_debian as prove

__all__ = ["prove"]
