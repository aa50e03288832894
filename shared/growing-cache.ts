/** Options of an `LRUCache` that takes memory as it fills: with `max` it takes it for all entries at once, which is most of a start. @param most number of entries */
export function growingTo(most: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: most, sizeCalculation: () => 1 }
}
