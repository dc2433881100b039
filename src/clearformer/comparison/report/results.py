"""The first part of the page: who predicts best."""

from clearformer.comparison.document import MEASURES
from clearformer.comparison.findings import listed
from clearformer.comparison.report.dots import Border, Dot, dot_chart
from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.figures import WRITTEN, count, share
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import number_label
from clearformer.comparison.report.tables import Cell, name_cell, table
from clearformer.comparison.report.view import View
from clearformer.comparison.standing import Standing


def headline(view: View) -> str:
    """What came out, in a sentence; a difference only where intervals are apart."""
    comparison, standing = view.comparison, Standing(view.comparison)
    ranked, alike = comparison.ranked, standing.alike
    given = {"best": view.labels[ranked[0]], "value": _with_measure(view, ranked[0])}
    if len(ranked) == 1:
        return view.say("best_alone", **given)
    if standing.equal:
        key = "best_equal_once" if standing.unknown else "best_equal"
        names = listed([view.labels[name] for name in ranked], view.words)
        return view.say(key, value=given["value"], names=names)
    if alike and not standing.unknown:
        level = [view.say("best_valued", name=view.labels[n], value=_mean(view, n)) for n in alike]
        return view.say("best_level", **given, names=listed(level, view.words))
    key = "best_once" if standing.unknown else "best_apart"
    second = ranked[1]
    return view.say(key, **given, next=view.labels[second], other=_mean(view, second))


def _mean(view: View, name: str) -> str:
    measure = view.comparison.measure
    return WRITTEN[measure](view.comparison.mean(name, measure))


def _with_measure(view: View, name: str) -> str:
    said = view.words.get(f"value_{view.comparison.measure}", "{value} {measure}")
    return said.format(value=_mean(view, name), measure=view.measure_name)


def under_the_headline(view: View) -> str:
    """The budget and the task in a line."""
    comparison = view.comparison
    budget, seeds = comparison.budget, len(comparison.training["seeds"])
    models = len(comparison.models)
    if budget["tokens"] is not None:
        length = view.say("length_tokens", count=count(budget["tokens"]))
    else:
        length = view.say("length_seconds", count=f"{budget['seconds']:.3g}")
    task = (
        view.say("task_text", characters=count(comparison.text["characters"]))
        if comparison.text
        else view.say("task_other", name=comparison.task["name"])
    )
    said = view.say(
        "under",
        models=view.say("models_many" if models > 1 else "models_one", count=models),
        parameters=count(budget["parameters"]),
        within=f"{100 * budget['within']:g} %",
        length=length,
        seeds=view.say("seeds_many", count=seeds) if seeds > 1 else view.say("seeds_one"),
    )
    return f"{task}{view.say('colon')}{said}"


def results(view: View) -> Markup:
    """The picture of means and the table of all measures."""
    how = view.say("results_how", measure=view.measure_name, better=view.better)
    several = len(view.comparison.training["seeds"]) > 1
    clock = tag("p", view.say("results_clock"), class_="small") if several else None
    return joined([tag("p", how, class_="how"), tag("figure", _picture(view)), _table(view), clock])


def _picture(view: View) -> Markup:
    comparison, measure = view.comparison, view.comparison.measure
    dots = []
    for name in comparison.ranked:
        found = comparison.summary[name][measure]
        single = tuple(getattr(result, measure) for result in comparison.of(name))
        dots.append(
            Dot(view.labels[name], view.colours[name], found["mean"], found["low"], found["high"],
                single)
        )  # fmt: skip
    title = view.say("results_figure", measure=view.measure_name)
    described = view.say("comma").join(
        f"{view.labels[name]} {view.mean(name, measure)}" for name in comparison.ranked
    )
    percent = measure == "accuracy"
    axis = Axis(
        f"{view.measure_name} ({view.better})",
        low=0.0 if percent else None,
        high=1.0 if percent else None,
        label=(lambda value: f"{100 * value:g} %") if percent else number_label,
    )
    return dot_chart(dots, axis, title, described, WRITTEN[measure], _borders(view))


def _borders(view: View) -> list[Border]:
    task, measure = view.comparison.task, view.comparison.measure
    if measure == "accuracy" and task["chance"] is not None:
        return [Border(f"{view.say('chance')} {share(task['chance'])}", task["chance"])]
    if measure == "bits_per_character" and task["entropy"]:
        return [Border(f"{view.say('entropy')} {task['entropy']:.3f}", task["entropy"])]
    return []


def _table(view: View) -> Markup:
    comparison = view.comparison
    known = [
        measure for measure in MEASURES
        if any(measure in comparison.summary[name] for name in comparison.names)
    ]  # fmt: skip
    measures = [comparison.measure, *[each for each in known if each != comparison.measure]]
    rows = []
    for name in comparison.ranked:
        row = [name_cell(view.labels[name], view.colours[name])]
        for measure in measures:
            found = comparison.summary[name].get(measure)
            strong = measure == comparison.measure
            value = None if found is None else found["mean"]
            row.append(
                Cell(view.mean(name, measure), value, strong, beneath=view.range(name, measure))
            )
        parameters = comparison.of(name)[0].parameters
        rows.append([*row, Cell(count(parameters), parameters)])
    heads = [view.say("model"), *map(view.measure_words, measures), view.say("parameters")]
    return table(view.say("results"), heads, rows, class_="main")
