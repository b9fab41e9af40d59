"""The proof: the original rehearsed as cuda, the migrated project as npu, and what both computed compared."""
