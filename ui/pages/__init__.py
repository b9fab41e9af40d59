"""One module per tab, named as the feature: `make_page(session)` gives its widget."""
