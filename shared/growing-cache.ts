/**
 * Returns options for an `LRUCache` that allocates memory as it fills. With `max` it would allocate memory for all
 * entries at once, which takes most of the time of a start.
 * @param most number of entries
 */
export function growingTo(most: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: most, sizeCalculation: () => 1 }
}
