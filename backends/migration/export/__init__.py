"""Reports of a scan: JSON, CSV, SARIF 2.1.0 and one page of HTML."""
