"""CANN's own analysis tool as a second opinion: run in addition to our scan, its rows matched with our findings.

The tool comes with CANN and was not available here: how to call it and what it writes was taken from its source
(msfmktransplt, Ascend-mstt @99c2e0f990).
"""
