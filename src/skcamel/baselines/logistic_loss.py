"""Loss and residual of many logistic problems at once, a block of rows at a time so that it stays in the cache."""

from __future__ import annotations

import numpy as np

BLOCK = 1 << 15  # numbers of a block: 256 KiB


def loss_and_residual(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, n_free: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of -log p over the rows for every problem, and its derivative by the margins.

    Parameters
    ----------
    margins : array of shape (n, B * n_free)
        Columns b * n_free ... (b + 1) * n_free - 1 belong to problem b; the margin of the last class is 0.
    targets : array of shape (n, B * n_free)
        1 in the column of a row's class, else 0; all 0 for the last class.
    weights : array of shape (n, B) or None
        Weight of each row in each problem.
    n_free : int
        Number of classes minus one.

    Returns
    -------
    loss : array of shape (B,)
    residual : array of shape (n, B * n_free)
        Weighted p - y.

    Examples
    --------
    >>> loss, residual = loss_and_residual(np.zeros((2, 1)), np.array([[1.0], [0.0]]), None, 1)
    >>> loss.round(4), residual[:, 0]
    (array([1.3863]), array([-0.5,  0.5]))
    """
    n, n_columns = margins.shape
    residual = np.empty_like(margins)
    loss = np.zeros(n_columns // n_free)
    step = max(1, BLOCK // max(1, n_columns))
    of_block = _binary if n_free == 1 else _softmax
    for start in range(0, n, step):
        rows = slice(start, start + step)
        loss += of_block(margins[rows], targets[rows], None if weights is None else weights[rows], residual[rows], n_free)
    return loss, residual


def probabilities(margins: np.ndarray, n_free: int) -> np.ndarray:
    """Probabilities of the classes from the margins (n, B * n_free): (n, B, n_free + 1)."""
    z = margins.reshape(len(margins), -1, n_free)
    z = np.concatenate([z, np.zeros((*z.shape[:2], 1))], axis=2)
    z -= z.max(axis=2, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=2, keepdims=True)
    return z


def _binary(z: np.ndarray, y: np.ndarray, w: np.ndarray | None, residual: np.ndarray, _: int) -> np.ndarray:
    """Two classes: log(1 + exp(z)) - y z, without overflow."""
    soft = np.abs(z)
    np.negative(soft, out=soft)
    np.exp(soft, out=soft)
    np.log1p(soft, out=soft)
    soft += np.maximum(z, 0)
    np.subtract(z, soft, out=residual)  # log p
    np.exp(residual, out=residual)
    residual -= y
    soft -= y * z
    if w is None:
        return soft.sum(axis=0)
    residual *= w
    return np.einsum("ij,ij->j", w, soft)


def _softmax(margins: np.ndarray, targets: np.ndarray, w: np.ndarray | None, residual: np.ndarray, n_free: int) -> np.ndarray:
    """More classes: log(1 + Σ exp(z_c)) - z_y, without overflow."""
    shape = (len(margins), -1, n_free)
    z, y = margins.reshape(shape), targets.reshape(shape)
    top = np.maximum(z.max(axis=2), 0)
    e = np.exp(z - top[:, :, None])
    total = e.sum(axis=2) + np.exp(-top)
    rows_loss = np.log(total) + top - (y * z).sum(axis=2)
    e /= total[:, :, None]
    e -= y
    if w is not None:
        e *= w[:, :, None]
        rows_loss *= w
    residual[:] = e.reshape(residual.shape)
    return rows_loss.sum(axis=0)
