"""What the decorators of kernels promise."""

from klafter.core.kernel import inner, kernel


@inner
def double(x):
    return 2 * x


@kernel
def thrice(n):
    return double(0) + double(1) + double(n)


def test_a_literal_does_not_compile_a_kernel_again():
    assert thrice(3) == 8
    assert len(double.signatures) <= 1  # none where `thrice` came from the cache
