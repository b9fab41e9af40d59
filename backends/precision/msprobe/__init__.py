"""msprobe's own tools beside ours: its comparison, its overflow check, its databases. Run in processes of their own."""
