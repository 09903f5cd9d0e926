"""The results as a paragraph for people who do not read tables of tests."""

import math

from crisptree.lab.study.study_results import StudyResults

ALPHA = 0.05
NAMES = {"tree": "decision tree", "list": "rule list", "mlp": "network"}
NUMBERS = ("Nobody", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
SIMULATED = (
    "SIMULATED. These are not people's answers. A program gave them, to plan the study or to try "
    "it out."
)


def in_plain_words(results: StudyResults) -> str:
    """What was found, what was not, and what cannot be said."""
    measured = results.measured
    n = len(measured.people)
    what = "simulated person" if measured.simulated else "person"
    left_out = f"; {len(measured.excluded)} left out by the rule" if measured.excluded else ""
    count = NUMBERS[n] if n < len(NUMBERS) else str(n)
    who = {0: "Nobody", 1: f"One {what}"}.get(n, f"{count} {what.replace('person', 'people')}")
    sentences = [f"{who} {'is' if n < 2 else 'are'} analysed{left_out}."]
    if n:
        sentences += [_accuracy(results), *_ratings(results), *_times(results)]
    return " ".join([*sentences, *results.cannot_say])


def name_of(policy: str) -> str:
    """`tree2` is the second decision tree."""
    kind = policy.rstrip("0123456789")
    number = policy[len(kind) :]
    return f"{NAMES[kind]}{' ' + number if number else ''}" if kind in NAMES else policy


def the(policy: str) -> str:
    """The name in a sentence; one with a number needs no article."""
    name = name_of(policy)
    return name if name[-1:].isdigit() else f"the {name}"


def p_text(p: float) -> str:
    if math.isnan(p):
        return "p undefined"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")


def _accuracy(results: StudyResults) -> str:
    shares = [
        f"{each.accuracy:.0%}{' of the questions' if at == 0 else ''} with {the(each.policy)}"
        for at, each in enumerate(results.policies)
    ]
    text = f"They predicted the policy's action rightly in {_listed(shares)}"
    test = results.accuracy_friedman
    if test is None or math.isnan(test.p):
        return f"{text}."
    differ = "differ" if test.p < ALPHA else "do not differ clearly"
    return (
        f"{text}; these shares {differ} (Friedman Q({test.df}) = {test.q:.2f}, {p_text(test.p)})."
    )


def _ratings(results: StudyResults) -> list[str]:
    ranked = sorted(results.policies, key=lambda each: -each.rating_mean)
    means = [f"{each.rating_mean:.1f} to {the(each.policy)}" for each in ranked]
    said = [f"On a scale from 1 to 7 they gave {_listed(means)}."]
    if results.ratings is None or math.isnan(results.ratings.anova.f):
        return said
    anova = results.ratings.anova
    spherical = math.isnan(anova.mauchly_p) or anova.mauchly_p >= ALPHA
    p = anova.p if spherical else anova.p_greenhouse_geisser
    test = f"F({anova.df_conditions}, {anova.df_error}) = {anova.f:.2f}, {p_text(p)}"
    test += "" if spherical else ", corrected for a lack of sphericity"
    if p >= ALPHA:
        return [*said, f"Chance alone could explain these differences ({test})."]
    said.append(f"Chance alone hardly explains these differences ({test}).")
    for pair in results.ratings.tukey:
        if pair.p < ALPHA:
            up, down = (pair.first, pair.second)[:: 1 if pair.difference > 0 else -1]
            low, high = sorted(abs(edge) for edge in pair.interval_95)
            said.append(
                f"{_first(results, up)} was rated {abs(pair.difference):.1f} points higher "
                f"than {_name(results, down)} (95 % interval {low:.1f} to {high:.1f}; "
                f"Tukey, {p_text(pair.p)})."
            )
    return said


def _times(results: StudyResults) -> list[str]:
    ranked = sorted(results.policies, key=lambda each: each.seconds_median)
    medians = [f"{each.seconds_median:.0f} s with {the(each.policy)}" for each in ranked]
    said = [f"The questions about one policy took {_listed(medians)} (medians)."]
    if results.times is None or math.isnan(results.times.friedman.p):
        return said
    test = results.times.friedman
    text = f"Friedman Q({test.df}) = {test.q:.2f}, {p_text(test.p)}"
    if test.p >= ALPHA:
        return [*said, f"Chance alone could explain these differences ({text})."]
    said.append(f"Chance alone hardly explains these differences ({text}).")
    for pair, ratio in zip(results.times.dunn, results.time_ratios, strict=True):
        if pair.p_holm < ALPHA:
            slow, fast = (pair.first, pair.second)[:: 1 if ratio.ratio > 1 else -1]
            edges = [edge if ratio.ratio > 1 else 1 / edge for edge in ratio.interval_95]
            times = max(ratio.ratio, 1 / ratio.ratio)
            said.append(
                f"{_first(results, slow)} took {times:.1f} times as long as "
                f"{_name(results, fast)} (95 % interval {min(edges):.1f} to {max(edges):.1f}; "
                f"Dunn, {p_text(pair.p_holm)})."
            )
    return said


def _name(results: StudyResults, policy: int) -> str:
    return the(results.measured.policies[policy])


def _first(results: StudyResults, policy: int) -> str:
    """The name at the beginning of a sentence."""
    name = _name(results, policy)
    return name[0].upper() + name[1:]


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
