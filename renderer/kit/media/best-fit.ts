/** A grid of equal tiles. */
export interface Grid {
  columns: number
  rows: number
  /** Width of one tile, in the unit of the area. */
  width: number
  height: number
}

/**
 * Finds the grid in which `count` tiles of this shape are as large as possible.
 * @param ratio width by height of a tile
 */
export function bestFit(count: number, width: number, height: number, ratio: number, gap: number): Grid {
  let best: Grid = { columns: 1, rows: Math.max(1, count), width: 0, height: 0 }
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns)
    const most = Math.min((width - gap * (columns - 1)) / columns, ((height - gap * (rows - 1)) / rows) * ratio)
    if (most > best.width) best = { columns, rows, width: most, height: most / ratio }
  }
  return { ...best, width: Math.floor(best.width), height: Math.floor(best.height) }
}

/** Returns the number of tiles, at least one, that fit if none may be narrower than `least`. */
export function capacity(
  width: number,
  height: number,
  ratio: number,
  gap: number,
  least: number,
  most: number,
): number {
  let count = 1
  while (count < most && bestFit(count + 1, width, height, ratio, gap).width >= least) count++
  return count
}
