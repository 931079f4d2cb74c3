"""What people say of pairs: judgments, batches and their queues, the exchange with Label Studio, training sets, backups."""
