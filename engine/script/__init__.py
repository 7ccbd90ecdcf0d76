"""The user's file while it runs, and what it leaves behind."""
