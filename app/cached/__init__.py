"""Results that pages share, computed once for all sessions."""
