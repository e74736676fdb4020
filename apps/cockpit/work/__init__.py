"""Work: schedules with their last runs, the queue, failed tasks, deliveries."""
