/**
 * Returns options for an `LRUCache` whose memory grows with its content. With `max`, the cache would allocate memory
 * for all entries at once, which would take most of the time of a start.
 * @param max maximum number of entries
 */
export function growingTo(max: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: max, sizeCalculation: () => 1 }
}

/**
 * Sets an entry of a map, and makes it the newest one. Drops the oldest entries above `max`. For objects of which there
 * are thousands, such as rooms: an `LRUCache` for each would take more memory than its entries.
 */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}
