"""The proof of a migration: rehearse the original as cuda and the migrated project as npu, and compare what they
compute."""
