import type { WallPlace } from '../../../../shared/domain/wall-layout.ts'

const arrows: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Returns the direction of an arrow key in steps across and down; undefined for other keys. */
export function arrowOf(key: string): readonly [across: number, down: number] | undefined {
  return arrows[key]
}

/** Returns the index of the nearest tile in the direction of an arrow key; undefined: none. */
export function nextInDirection(places: readonly WallPlace[], from: number, key: string): number | undefined {
  const start = places[from]
  const arrow = arrowOf(key)
  if (start === undefined || arrow === undefined) return undefined
  const [across, down] = arrow
  let nearest: number | undefined
  let least = Number.POSITIVE_INFINITY
  for (const [index, place] of places.entries()) {
    const right = place.x + place.w / 2 - start.x - start.w / 2
    const below = place.y + place.h / 2 - start.y - start.h / 2
    const along = right * across + below * down
    // Lateral distance counts double, so that a tile in the same row precedes a diagonal one.
    const aside = Math.abs(right * down) + Math.abs(below * across)
    if (along <= 0 || along + 2 * aside >= least) continue
    least = along + 2 * aside
    nearest = index
  }
  return nearest
}
