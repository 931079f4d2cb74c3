"""Long work that runs beside the app as commands of its own."""
