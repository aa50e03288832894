/**
 * The items that a full sort would put at `offset` to `offset + limit`, in order, without sorting the rest: O(n) expected (quickselect), plus the sort of the page.
 * Reorders `items`. `compare` must tell every two items apart.
 */
export function pageOf<T>(items: T[], compare: (one: T, other: T) => number, offset: number, limit: number): T[] {
  const end = Math.min(items.length, offset + limit)
  if (offset >= end) return []
  if (offset > 0) partition(items, compare, offset, 0, items.length - 1)
  if (end < items.length) partition(items, compare, end, offset, items.length - 1)
  return items.slice(offset, end).sort(compare)
}

/** Moves items so that none before index `k` comes after one from `k` on, within `low` to `high`. */
function partition<T>(
  items: T[],
  compare: (one: T, other: T) => number,
  k: number,
  lowest: number,
  highest: number,
): void {
  let low = lowest
  let high = highest
  while (low < high) {
    // A random pivot: no order of the rooms makes it slow.
    const pivot = at(items, low + Math.floor(Math.random() * (high - low + 1)))
    let left = low
    let right = high
    while (left <= right) {
      while (compare(at(items, left), pivot) < 0) left++
      while (compare(at(items, right), pivot) > 0) right--
      if (left > right) break
      const swapped = at(items, left)
      items[left++] = at(items, right)
      items[right--] = swapped
    }
    if (k <= right) high = right
    else if (k >= left) low = left
    else return
  }
}

/** The indices above stay within the array. */
function at<T>(items: readonly T[], index: number): T {
  return items[index] as T
}
