"""CANN's own analysis tool as a second opinion: run beside our scan, its rows matched with our findings.

It comes with CANN and was never run here: how it is called and what it writes is from its source (msfmktransplt,
Ascend-mstt @99c2e0f990).
"""
