"""What several tests share. Imported as `support`: `tests/` is on the path while pytest runs."""
