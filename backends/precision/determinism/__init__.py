"""Does the same run give the same bits twice, and does looking at it change them."""
