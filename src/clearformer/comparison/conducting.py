"""From a plan to a document: every job that has not ended yet, one after the other."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NoReturn

import numpy as np

from clearformer.comparison.agenda import Agenda
from clearformer.comparison.counting import count
from clearformer.comparison.course import Course
from clearformer.comparison.document import Comparison, Result
from clearformer.comparison.entries import Entry
from clearformer.comparison.events import Job, Listener
from clearformer.comparison.findings import findings_of, summary_of
from clearformer.comparison.notes import notes_of
from clearformer.comparison.plan import GRID, SEARCH_SEED, Plan
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.search import Tried, searched
from clearformer.comparison.study import Study
from clearformer.comparison.trained import trained_of
from clearformer.comparison.trial import Outcome, Trial, memory_of, run
from clearformer.comparison.why.reasons import reasons_of
from clearformer.engines.choose import version_of
from clearformer.engines.kernels import kernels_heard_by
from clearformer.errors import Interrupted, NotFiniteError
from clearformer.training.interrupt import Interrupt
from clearformer.version import __version__

WHY = "why"
"""The file that keeps the reasons."""


def conduct(
    plan: Plan,
    course: Course,
    entries: Sequence[Entry],
    kept: Study,
    listener: Listener,
    going_on: str,
    *,
    why: bool,
) -> Comparison:
    """Does what is left to do, and puts everything together.

    Args:
        plan: what is compared.
        course: what all learn from.
        entries: those that take part, in their sizes.
        kept: what has ended so far, and what will.
        listener: hears what happens.
        going_on: tells a person how to go on after it was stopped.
        why: whether the reasons are measured on the trained models, too.

    Raises:
        ConfigurationError, NotFiniteError, RunError, Interrupted: see `compare`.
    """
    with Interrupt() as interrupt, kernels_heard_by(listener.note):
        conducting = _Conducting(plan, course, kept, listener, entries, going_on, interrupt)
        comparison = conducting.all()
        if why:
            comparison = replace(comparison, **conducting.looked_into())
    kept.finish(comparison.to_json())
    return comparison


class _Conducting:
    """One session of a comparison."""

    def __init__(
        self,
        plan: Plan,
        course: Course,
        kept: Study,
        listener: Listener,
        entries: Sequence[Entry],
        going_on: str,
        interrupt: Interrupt,
    ):
        self.plan, self.course, self.kept, self.listener = plan, course, kept, listener
        self.entries, self.going_on, self.interrupt = entries, going_on, interrupt
        self.agenda = Agenda([entry.entrant for entry in entries], plan.seeds)

    def all(self) -> Comparison:
        """Every job, in an order that gives a first picture soon: seed by seed."""
        self.listener.planned(
            {entry.name: entry.in_words for entry in self.entries}, self.agenda.jobs
        )
        counted = {e.name: self._counted(e) for e in self.entries if e.configuration is None}
        trained = [entry for entry in self.entries if entry.configuration is not None]
        memory = {entry.name: self._memory(entry) for entry in trained}
        rates = {entry.name: self._searched(entry) for entry in trained}
        found = {
            (entry.name, seed): self._full(entry, seed, rates[entry.name].chosen)
            for seed in range(self.plan.seeds)
            for entry in trained
        }
        results = []
        for entry in self.entries:
            if entry.name in counted:
                results.append(Result.from_json(counted[entry.name]["result"]))
            for seed in range(self.plan.seeds) if entry in trained else ():
                result = Result.from_json(found[entry.name, seed])
                results.append(replace(result, memory=memory[entry.name]))
        return self._document(results, counted, rates)

    def looked_into(self) -> dict[str, Any]:
        """The reasons, measured on the models of the first seed."""
        found = self.kept.get(WHY)
        if found is None:

            def hear(what: str, share: float) -> None:
                if self.interrupt.number is not None:
                    self._stop()
                self.listener.looking(what, share)

            models = trained_of(self.entries, self.course, self.kept)
            why, temperature = reasons_of(models, progress=hear).to_json()
            found = {"why": why, "temperature": temperature}
            self.kept.put(WHY, found)
        return {name: found[name] for name in ("why", "temperature")}

    def _counted(self, entry: Entry) -> dict[str, Any]:
        def work(job: Job) -> dict[str, Any]:
            ground = self.course.counted(entry.entrant, self.plan.budget.tokens)
            return count(entry.entrant, ground)

        return self._done(entry.job("count"), work)

    def _memory(self, entry: Entry) -> int:
        def work(job: Job) -> dict[str, Any]:
            return {"bytes": memory_of(entry.trial(self.plan, self.course, 1e-3, 0))}

        found: int = self._done(entry.job("memory"), work)["bytes"]
        return found

    def _searched(self, entry: Entry) -> Tried:
        tried = 0

        def loss_of(rate: float) -> float | None:
            nonlocal tried
            tried += 1
            job = entry.job("search", SEARCH_SEED, rate)
            if tried > len(GRID):
                self.agenda.one_more(job)
            found: float | None = self._done(job, lambda job: self._short(entry, job))["loss"]
            return found

        found = searched(entry.name, loss_of)
        if not found.widened:
            self.agenda.none_more()
        return found

    def _short(self, entry: Entry, job: Job) -> dict[str, Any]:
        rate = job.learning_rate or 0.0
        trial = entry.trial(self.plan, self.course, rate, SEARCH_SEED, search=True)
        try:
            loss: float | None = self._run(trial, job).score.loss
        except NotFiniteError:
            loss = None
        return {"learning_rate": rate, "loss": loss}

    def _full(self, entry: Entry, seed: int, rate: float) -> dict[str, Any]:
        def work(job: Job) -> dict[str, Any]:
            try:
                outcome = self._run(entry.trial(self.plan, self.course, rate, seed), job)
            except NotFiniteError as fault:
                raise NotFiniteError(
                    f"{entry.name} with seed {seed}: {fault}; what has ended is kept"
                ) from None
            if seed == 0:
                self.kept.keep_weights(job.name, outcome.model.parameters())
            return _result(entry, seed, rate, outcome)

        return self._done(entry.job("trial", seed, rate), work)

    def _run(self, trial: Trial, job: Job) -> Outcome:
        def hear(share: float) -> None:
            self.listener.moved(job, share, self.agenda.seconds_left(job, share))

        outcome = run(trial, hear, lambda: self.interrupt.number is not None)
        if outcome is None:
            self._stop()
        return outcome

    def _done(self, job: Job, work: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
        """What a job finds, or has found in an earlier session."""
        number = self.agenda.begin(job)
        found, earlier = self.kept.get(job.name), True
        if found is None:
            if self.interrupt.number is not None:
                self._stop()
            self.listener.begun(job, number, self.agenda.jobs)
            found, earlier = work(job), False
            self.kept.put(job.name, found)
        self.agenda.end(job, earlier=earlier)
        self.listener.ended(job, found)
        return found

    def _stop(self) -> NoReturn:
        raise Interrupted(
            f"stopped after {self.agenda.number - 1} of {self.agenda.jobs} parts; {self.going_on}",
            self.interrupt.number or 2,
        )

    def _document(
        self,
        results: Sequence[Result],
        counted: Mapping[str, Mapping[str, Any]],
        rates: Mapping[str, Tried],
    ) -> Comparison:
        plan, known = self.plan, {r.model: {"parameters": r.parameters} for r in results}
        for name, found in counted.items():
            known[name] |= {"order": found["order"], "losses": found["losses"]}
        models = [entry.described(plan, self.course, known[entry.name]) for entry in self.entries]
        comparison = Comparison(
            results=tuple(results),
            summary=summary_of(results, list(counted)),
            models=tuple(models),
            task={**self.course.described(), "measure": plan.measure},
            budget=plan.budget.to_json(),
            search={name: tried.to_json() for name, tried in rates.items()},
            training=plan.described(),
            text=self.course.text(),
            machine=_machine(plan),
        )
        return replace(comparison, findings=findings_of(comparison), notes=notes_of(comparison))


def _result(entry: Entry, seed: int, rate: float, outcome: Outcome) -> dict[str, Any]:
    score = outcome.score
    made: Any = entry.configuration
    return asdict(
        Result(
            model=entry.name,
            seed=seed,
            parameters=made.parameter_count,
            tokens=outcome.tokens,
            seconds=outcome.seconds,
            tokens_per_second=outcome.tokens / outcome.seconds if outcome.seconds else None,
            loss=score.loss,
            bits_per_character=score.bits_per_character,
            perplexity=score.perplexity,
            accuracy=score.accuracy,
            memory=None,
            learning_rate=rate,
            curve=outcome.curve,
        )
    )


def _machine(plan: Plan) -> dict[str, Any]:
    return {
        "engine": plan.engine,
        "device": plan.device,
        "workers": plan.workers,
        "system": platform.system(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        plan.engine: version_of(plan.engine),
        "clearformer": __version__,
        "memory": ENGLISH[f"memory_{plan.engine}"],
    }
