"""Products of a query do not depend on its company, nor on how vectors lie in memory."""

import numpy as np

from secateur.core.products import by_component, cosines, first_of_equal, products


def test_a_question_has_the_same_cosines_alone_as_in_company_and_equal_passages_have_equal_ones():
    rng = np.random.default_rng(3)
    for n in (3, 27, 300):
        texts = [f"t{place % (n - 1)}" for place in range(n)]
        first = first_of_equal(texts)
        vectors, queries = (rng.normal(size=(count, 384)).astype(np.float32) for count in (n, 30))
        whole = cosines(queries, vectors[first], first)
        alone = np.concatenate([cosines(queries[q : q + 1], vectors[first], first) for q in range(30)])
        np.testing.assert_array_equal(whole, alone)
        np.testing.assert_array_equal(whole[:, 0], whole[:, n - 1])
        np.testing.assert_allclose(whole, queries @ vectors[first].T, atol=1e-3)


def test_vectors_laid_out_by_component_are_the_same_numbers():
    vectors = np.random.default_rng(4).normal(size=(700, 384)).astype(np.float32)
    columns = by_component(vectors)
    np.testing.assert_array_equal(columns, vectors)
    assert columns.T.flags.c_contiguous
    np.testing.assert_allclose(products(vectors[:9], columns), vectors[:9] @ vectors.T, atol=1e-3)
