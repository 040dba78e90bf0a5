"""What happens before the first screen: opening a store, the last session, loading ahead."""
