/**
 * Returns options for an `LRUCache` that allocates memory as it fills. With `max` it would allocate memory for all
 * entries at once, which takes most of the time of a start.
 * @param max number of entries
 */
export function growingTo(max: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: max, sizeCalculation: () => 1 }
}
