"""Tasks that a real worker of django-q2 runs, in this process."""

from multiprocessing import Queue, Value

from django_q.models import OrmQ
from django_q.monitor import monitor
from django_q.worker import worker


def work_off() -> None:
    """Run everything that waits, as a worker does, and store the results, as its monitor does."""
    tasks: Queue = Queue()
    results: Queue = Queue()
    for row in list(OrmQ.objects.order_by("pk")):
        tasks.put({**row.task, "ack_id": row.pk})
    tasks.put("STOP")
    worker(tasks, results, Value("f", -1))
    results.put("STOP")
    monitor(results)
    for queue in (tasks, results):
        queue.close()
        queue.join_thread()
