"""Work after an operation until the broker rests: tasks of stores and queues, blocked producers, touched queues.

Source: docs/spec/paging-engine.md 1.2 and 3.7.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pageengine.model.ports import Producer, StorePort
from pageengine.model.reference import QueuePort


@dataclass(eq=False)
class Schedule:
    """Pending work. ``touched_stores`` and ``changed_queues``: what an outcome has to check for changes.

    ``asks_several``: several queues are asked one after the other; what they schedule runs after the last.
    """

    tasks: deque[Callable[[], object]] = field(default_factory=deque)
    touched_stores: set[StorePort] = field(default_factory=set)
    touched_queues: dict[QueuePort, None] = field(default_factory=dict)
    changed_queues: dict[QueuePort, None] = field(default_factory=dict)
    to_resume: dict[Producer, None] = field(default_factory=dict)
    asks_several: bool = False

    def touch(self, queue: QueuePort) -> None:
        """Note that something happened to a queue, so that it is asked before the broker rests."""
        self.touched_queues[queue] = None

    def resume(self, producer: Producer) -> None:
        """Note that a producer got credits and goes on."""
        self.to_resume[producer] = None

    @property
    def rests(self) -> bool:
        """Return whether nothing is left to do."""
        return not (self.tasks or self.to_resume or self.touched_queues)

    def producers_turn(self) -> None:
        """Let every producer that got credits send one message, as it would while a consumer takes one."""
        turn, self.to_resume = self.to_resume, {}
        for producer in turn:
            producer.continue_sends()
        self.run_tasks()

    def run_tasks(self) -> None:
        """Run the tasks of stores and queues until none is left."""
        tasks = self.tasks
        while tasks:
            tasks.popleft()()

    def run_all(self) -> None:
        """Run tasks, then producers that got credits, one after the other, until nothing is left."""
        self.run_tasks()
        while self.to_resume:
            producer = next(iter(self.to_resume))
            del self.to_resume[producer]
            producer.continue_sends()
            self.run_tasks()

    def settle(self) -> None:
        """Run until the broker rests: every touched queue delivers and reads ahead."""
        if self.tasks or self.to_resume:
            self.run_all()
        while self.touched_queues:
            touched, self.touched_queues = self.touched_queues, {}
            self.changed_queues.update(touched)
            if len(touched) == 1:
                (queue,) = touched
                if queue.rests_alone():
                    if self.tasks or self.to_resume:
                        self.run_all()
                    continue
            queues: dict[QueuePort, None] = {}
            for queue in touched:
                queue.queues_to_ask(queues)
            self.asks_several = True
            for queue in queues:
                queue.rest()
            self.asks_several = False
            if self.tasks or self.to_resume:
                self.run_all()
