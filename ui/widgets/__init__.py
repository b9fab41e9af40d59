"""What any page may show: charts, tables, logs, cards, popovers, texts, colours."""
