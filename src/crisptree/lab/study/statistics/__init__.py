"""The tests of the paper's §7 as small pure functions on a table of people × aids."""

from crisptree.lab.study.statistics.anova import RepeatedMeasuresAnova as RepeatedMeasuresAnova
from crisptree.lab.study.statistics.anova import repeated_measures_anova as repeated_measures_anova
from crisptree.lab.study.statistics.checks import Friedman as Friedman
from crisptree.lab.study.statistics.checks import cronbachs_alpha as cronbachs_alpha
from crisptree.lab.study.statistics.checks import friedman as friedman
from crisptree.lab.study.statistics.checks import levene as levene
from crisptree.lab.study.statistics.checks import shapiro_wilk as shapiro_wilk
from crisptree.lab.study.statistics.intervals import mean_interval as mean_interval
from crisptree.lab.study.statistics.intervals import ratio_interval as ratio_interval
from crisptree.lab.study.statistics.intervals import share_interval as share_interval
from crisptree.lab.study.statistics.intervals import (
    within_person_intervals as within_person_intervals,
)
from crisptree.lab.study.statistics.pairs import RankPair as RankPair
from crisptree.lab.study.statistics.pairs import TukeyPair as TukeyPair
from crisptree.lab.study.statistics.pairs import dunn as dunn
from crisptree.lab.study.statistics.pairs import tukey as tukey
