/**
 * Returns options for an `LRUCache` whose memory grows with its content. With `max`, the cache would allocate memory
 * for all entries at once, which would take most of the time of a start.
 * @param max maximum number of entries
 */
export function growingTo(max: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: max, sizeCalculation: () => 1 }
}
