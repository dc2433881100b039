"""Answers that are `nn.Module`s: one is made for each probe, filled from it, and called."""

import copy
import inspect
import types
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from clearformer.checking.exercise import Exercise
from clearformer.checking.module_form import ModuleForm
from clearformer.checking.probe import Probe
from clearformer.checking.record import Failure
from clearformer.checking.running.arrays import image
from clearformer.checking.running.binding import Binding, SkippedError, bind
from clearformer.checking.running.clock import TookTooLongError, limit
from clearformer.checking.running.failing import failure
from clearformer.checking.running.filling import DoesNotFitError, fill
from clearformer.checking.running.frames import home
from clearformer.checking.running.probes import narrowed

LONGEST_MAKING = 2.0
"""Seconds that making the first module may take."""

CONFIGURATIONS = ("config", "cfg", "conf", "args", "hparams")
"""Names of one parameter that holds all sizes."""

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_module(thing: Any) -> bool:
    """Whether `thing` is an `nn.Module` or a class of them; asks without importing PyTorch."""
    kind = thing if isinstance(thing, type) else type(thing)
    return any(
        each.__module__ == "torch.nn.modules.module" and each.__name__ == "Module"
        for each in kind.__mro__
    )


class ModuleAnswer:
    """A module with one instance for each probe."""

    def __init__(self, thing: Any, exercise: Exercise, form: ModuleForm, binding: Binding):
        self.kind: Any = thing if isinstance(thing, type) else type(thing)
        self.instance = None if isinstance(thing, type) else thing
        self.exercise = exercise
        self.form = form
        self.binding = binding
        self.home = home(self.kind)
        self.notes = binding.notes
        self.made: dict[str, tuple[Any, Any]] = {}
        """By the name of a probe: an image of its arguments, and the module made for them."""
        self.defaults = {
            each.name: each.default
            for each in exercise.parameters
            if each.default is not each.empty
        }

    @classmethod
    def of(cls, thing: Any, exercise: Exercise) -> "ModuleAnswer | Failure":
        """The answer; a failure if the exercise has no form as a module or this one is not it."""
        form = exercise.module
        if form is None:
            return failure(
                "signature",
                "expected a function {signature}; this exercise is not checked as a module",
                "関数 {signature} が必要です。この課題はモジュールとしては確かめられません",
                signature=exercise.signature,
            )
        kind: Any = thing if isinstance(thing, type) else type(thing)
        sizes = set(_size_names(form))
        own = {name for name in _constructor_names(kind) if name not in sizes}
        wanted = [
            each
            for each in exercise.parameters
            if each.name in form.call
            or (
                each.default is not each.empty
                and each.name not in form.held
                and each.name not in form.sizes
                and not own & {each.name, *exercise.synonyms.get(each.name, ())}
            )
        ]
        binding = bind(types.MethodType(kind.forward, kind), exercise, wanted)
        if isinstance(binding, Failure):
            return binding
        answer = cls(thing, exercise, form, binding)
        return answer._fits() or answer

    def _fits(self) -> Failure | None:
        """Why no module can be made for the first main probe; None if it can."""
        probe = next(probe for probe in self.exercise.probes() if probe.role == "main")
        failures = [self._unfit(each) for each in (probe, narrowed(self.exercise, probe))]
        return failures[0] if all(failures) else None

    def _unfit(self, probe: Probe) -> Failure | None:
        try:
            with limit(LONGEST_MAKING):
                self._filled({**self.defaults, **probe.arguments})
        except DoesNotFitError as reason:
            return reason.failure
        except (Exception, SystemExit, TookTooLongError):
            return None  # of the learner's own code: shown when the module is called
        return None

    def call(self, probe: Probe, arguments: Mapping[str, Any]) -> Any:
        """Calls the module made for `probe`, without gradients."""
        import torch

        kept, module = self.made.get(probe.name, (None, None))
        if kept != image(probe.arguments):
            try:
                module = self._filled({**self.defaults, **probe.arguments})
            except DoesNotFitError as reason:
                raise SkippedError from reason
            self.made[probe.name] = image(probe.arguments), module
        given = {name: value for name, value in arguments.items() if self._is_given(name)}
        with torch.no_grad():
            return self.binding.call(module, given)

    def _is_given(self, name: str) -> bool:
        return name in (*self.binding.positions, *self.binding.names) or (
            name in self.binding.defaults
        )

    def _filled(self, given: Mapping[str, Any]) -> Any:
        """A module with the sizes and weights of `given`, in eval mode."""
        if self.instance is not None:
            try:
                return fill(copy.deepcopy(self.instance), self.form, given).eval()
            except DoesNotFitError:
                pass  # sizes of another probe: the class is asked for one that fits
        return fill(self._made(given), self.form, given).eval()

    def _made(self, given: Mapping[str, Any]) -> Any:
        """The class called with sizes, by name where it has one that is known, else in order."""
        sizes = {name: read(given) for name, read in self.form.sizes.items()}
        known = _size_names(self.form)
        options = self._options(given)
        named: dict[str, Any] = {}
        unnamed = []
        for each in _constructor(self.kind):
            if each.name in known:
                named[each.name] = sizes[known[each.name]]
            elif each.name in options:
                named[each.name] = options[each.name]
            elif each.default is each.empty:
                unnamed.append(each.name)
        used = {known[name] for name in named if name in known}
        left = [size for name, size in sizes.items() if name not in used]
        for name in unnamed:
            if "drop" in name.lower():
                named[name] = 0.0
            elif name.lower() in CONFIGURATIONS:
                named[name] = SimpleNamespace(**_configuration(known, sizes, options))
            elif left:
                named[name] = left.pop(0)
            else:
                raise DoesNotFitError(self._unmade(name))
        return self.kind(**named)

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with a default by every name that a constructor may have for them."""
        return {
            other: given[name]
            for name in self.defaults
            for other in (name, *self.exercise.synonyms.get(name, ()))
        }

    def _unmade(self, name: str) -> Failure:
        return failure(
            "signature",
            "cannot make {owner}: what its parameter {name} is for is not known; sizes are {sizes}",
            "{owner} を作れません。引数 {name} の意味が分かりません。渡せる大きさ: {sizes}",
            owner=self.kind.__name__,
            name=name,
            sizes=", ".join(self.form.sizes),
        )


def _constructor(kind: type) -> Sequence[inspect.Parameter]:
    """What the class is called with, apart from *args and **named."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (ValueError, TypeError):
        return ()
    return [each for each in parameters if each.kind not in _VARIABLE]


def _configuration(
    known: Mapping[str, str], sizes: Mapping[str, int], options: Mapping[str, Any]
) -> dict[str, Any]:
    """All sizes under all their names, and what else is often asked for."""
    named = {name: sizes[size] for name, size in known.items()}
    return {"dropout": 0.0, "bias": True, **options, **named}


def _constructor_names(kind: type) -> list[str]:
    return [each.name for each in _constructor(kind)]


def _size_names(form: ModuleForm) -> dict[str, str]:
    """Every name of a size, with the size that it names."""
    return {other: name for name in form.sizes for other in (name, *form.size_names.get(name, ()))}
