import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import PPOConfig
from crisptree.learn.heads import Categorical, Gaussian
from crisptree.learn.noise import colored, exploration_noise

HEAD = Gaussian((-1.0, 0.0), (1.0, 4.0))


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize("color", [0.0, 0.5, 1.0])
def test_each_number_alone_is_standard_normal(n, color):
    noise = np.asarray(colored(jax.random.normal(jax.random.key(0), (n, 20_000)), color))
    np.testing.assert_allclose(noise.mean(1), 0, atol=0.04)
    np.testing.assert_allclose(noise.std(1), 1, atol=0.03)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_without_colour_the_noise_stays_as_it_is(n):
    white = jax.random.normal(jax.random.key(0), (n, 3, 2))
    np.testing.assert_allclose(colored(white, 0.0), white, atol=1e-5)


def test_the_spectrum_falls_as_the_colour_says():
    """The power at frequency f is to that at 1/n as f^-color."""
    noise = np.asarray(colored(jax.random.normal(jax.random.key(0), (64, 20_000)), 1.0))
    power = np.square(np.abs(np.fft.rfft(noise, axis=0))).mean(1)
    np.testing.assert_allclose(power[1] / power[[2, 4, 16]], [2, 4, 16], rtol=0.05)


def test_noise_lasts_longer_the_more_colour_it_has():
    white = jax.random.normal(jax.random.key(0), (64, 5_000))
    lasting = [
        float((colored(white, c)[1:] * colored(white, c)[:-1]).mean()) for c in (0.0, 0.5, 1.0)
    ]
    assert lasting[0] == pytest.approx(0, abs=0.01)
    assert 0.1 < lasting[1] < lasting[2] < 1


def test_only_real_actions_get_colour():
    key = jax.random.key(0)
    choice = exploration_noise(Categorical(3), key, 8, 4, 1.0)
    np.testing.assert_array_equal(choice, Categorical(3).noise(key, (8, 4)))
    real = exploration_noise(HEAD, key, 8, 4, jnp.float32(1.0))
    assert real.shape == (8, 4, 2)
    assert not np.allclose(real, HEAD.noise(key, (8, 4)))


def test_colours_out_of_range_are_refused():
    with pytest.raises(CrisptreeError, match="noise_color must be from 0 to 2, not 3"):
        PPOConfig(noise_color=3.0)
